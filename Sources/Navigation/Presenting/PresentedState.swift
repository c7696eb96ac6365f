import PresentationModel

/// A piece of state that the screen of a tab presents. What a tab lists is known to other programs from the start, and while the tab is
/// not selected: a request is written into the state, and its screens appear when the tab is selected (D20).
///
///     let presented: [PresentedState] = [
///       .path($model.path), .path($model.mixedPath, of: Note.self, Int.self), .item($model.note), .item($model.fact, id: \.text),
///       .isPresented($model.isHinted), .isPresented($model.destination.help), .tag(.history, in: $model.panel),
///     ]
///     navigator.present(tag: .items, selection: $model.tab, presenting: presented) { Window("Items") }
@MainActor
public struct PresentedState {
  /// Makes the drivers that serve the state while its screens are out of view.
  /// - Parameter parent: the binding of the tab.
  let drivers: (_ navigator: Navigator, _ parent: String) -> [HiddenDriver]

  /// State that is only on or off.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.isPresented($model.isHinted)]) { Window("Items") }
  ///
  /// - Parameter binding: the state, as the tab presents it.
  public static func isPresented(_ binding: Binding<Bool>) -> PresentedState {
    presented { .bool(binding, options: { PresentationOptions() }) }
  }

  /// A case of an enum without a payload.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.isPresented($model.destination.help)]) { Window("Items") }
  ///
  /// - Parameter binding: the state, as the tab presents it.
  public static func isPresented(_ binding: Binding<Void?>) -> PresentedState {
    let isPresented: Binding<Bool> = Binding(binding)
    return .isPresented(isPresented)
  }

  /// An item with an identity.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.item($model.fact, id: \.text)]) { Window("Items") }
  ///
  /// - Parameters:
  ///   - binding: the state, as the tab presents it.
  ///   - id: the identity of an item.
  public static func item<Item: Codable, ID: Hashable & Codable>(
    _ binding: Binding<Item?>, id: @escaping (Item) -> ID
  ) -> PresentedState {
    presented { .item(binding, id: id, options: { _ in PresentationOptions() }) }
  }

  /// An `Identifiable` item.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.item($model.note)]) { Window("Items") }
  ///
  /// - Parameter binding: the state, as the tab presents it.
  public static func item<Item: Codable & Identifiable>(_ binding: Binding<Item?>) -> PresentedState
  where Item.ID: Codable {
    .item(binding, id: \.id)
  }

  /// A path.
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.path($model.path)]) { Window("Items") }
  ///
  /// - Parameter binding: the state, as a stack of the tab presents it.
  public static func path<Element: Hashable & Codable>(_ binding: Binding<[Element]>) -> PresentedState {
    path(PathState(binding), ServedEntry(path: Element.self))
  }

  /// A path with values of several types.
  ///
  ///     let presented: [PresentedState] = [.path($model.mixedPath, of: Note.self, Int.self)]
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: presented) { Window("Items") }
  ///
  /// - Parameters:
  ///   - binding: the state, as a stack of the tab presents it.
  ///   - types: the types of values for which the stack has screens.
  public static func path(
    _ binding: Binding<NavigationPath>, of types: any (Hashable & Codable).Type...
  ) -> PresentedState {
    path(PathState(binding), ServedEntry(pathOf: Dictionary(types.map { (TypeName.of($0), $0) }) { $1 }))
  }

  /// A tag of a selection within the tab, and what its screen presents.
  ///
  ///     let presented: [PresentedState] = [.tag(.history, in: $model.panel, presenting: [.item($model.note)])]
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: presented) { Window("Items") }
  ///
  /// - Parameters:
  ///   - tag: the tag.
  ///   - selection: the state, as the tab presents it.
  ///   - presented: what the screen of the tag presents.
  public static func tag<Tag: Hashable & Codable>(
    _ tag: Tag, in selection: Binding<Tag?>, presenting presented: [PresentedState] = []
  ) -> PresentedState {
    PresentedState { navigator, parent in
      let content = DrivenContent.bool(
        Binding(selection, tag: tag), options: { PresentationOptions() })
      let group = navigator.coordinator.text(of: selection)
      let driver = HiddenDriver(
        content, as: .member(group: group, tag: Coding.id(of: tag) {}), of: navigator, from: parent)
      return [driver] + presented.flatMap { $0.drivers(navigator, driver.subject.name) }
    }
  }

  private static func presented(_ content: @escaping () -> DrivenContent) -> PresentedState {
    PresentedState { navigator, parent in
      [HiddenDriver(content(), as: .presented, of: navigator, from: parent)]
    }
  }

  private static func path(_ path: PathState, _ accepts: ServedEntry) -> PresentedState {
    PresentedState { navigator, parent in [HiddenDriver(path, accepts, of: navigator, from: parent)] }
  }
}
