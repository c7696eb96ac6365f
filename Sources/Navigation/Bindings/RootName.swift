/// The name of a model on the bus: the root of its bindings (B1).
///
///     let inventory = Bindable(model, .shared("inventory"))     // $model.note is inventory.note on the bus.
public struct RootName: Hashable, Sendable {
  let text: String
  let isShared: Bool

  /// A name that is unique to this program. On the bus an identifier of the program follows, so that two running copies do not collide.
  ///
  ///     @Bindable(.own("editor")) var model = Model()       // $model.note is editor-1-42.note on the bus.
  ///
  /// - Parameters:
  ///   - name: letters, digits, `_` and `-`, a letter or `_` first. Any other text is converted (``BindingName/name(for:)``) and
  ///     reported as misuse.
  ///   - file: the program's file, for that report.
  ///   - line: the line in the file.
  public static func own(_ name: String, file: StaticString = #fileID, line: UInt = #line) -> RootName {
    RootName(text: BindingName.checked(name, file: file, line: line), isShared: false)
  }

  /// A name that other programs know, for example for a key binding: `navctl dismiss counter.fact`.
  ///
  ///     @Bindable(.shared("editor")) var model = Model()    // $model.note is editor.note on the bus.
  ///
  /// - Parameters:
  ///   - name: as for ``own(_:file:line:)``.
  ///   - file: the program's file, for a report of misuse.
  ///   - line: the line in the file.
  public static func shared(_ name: String, file: StaticString = #fileID, line: UInt = #line) -> RootName {
    RootName(text: BindingName.checked(name, file: file, line: line), isShared: true)
  }

  func text(client: String) -> String { isShared ? text : "\(text)-\(client)" }
}
