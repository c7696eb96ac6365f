import PresentationModel
import TextFormats

/// The exclusive group to which the items of a destination belong.
public enum DestinationGroup: Hashable, Sendable {
  case named(BindingID)
  /// A group for each output: a binding in which ``placeholder`` stands for the output's name (U3).
  case perOutput(String)

  private static let placeholder = "{output}"

  /// Reads the text in a destination's file.
  /// - Throws: `Refusal` with the code `invalidBinding`.
  public init(_ text: String) throws(Refusal) {
    guard text.parted(at: Self.placeholder) != nil else {
      self = .named(try BindingID(text, as: "group"))
      return
    }
    self = .perOutput(text)
    _ = try binding(on: "output")
  }

  /// The text in the destination's file.
  public var text: String {
    switch self {
    case .named(let group): group.text
    case .perOutput(let text): text
    }
  }

  /// The group of an item.
  /// - Parameter output: the output of the item. Characters that a binding cannot have become `_`.
  /// - Throws: `Refusal`: `invalidArgument` if an output is needed and there is none; `invalidBinding` if its name is too long for a
  ///   binding.
  func binding(on output: String?) throws(Refusal) -> BindingID {
    switch self {
    case .named(let group): return group
    case .perOutput(let text):
      guard let output else {
        throw Refusal(
          .invalidArgument,
          "the destination has the group \(quoted(text)), so its items need an output; give one, or “focused” for the one with the "
            + "focus (navctl: --output focused)")
      }
      let name = String(output.map { BindingID.isName("_\($0)") ? $0 : "_" })
      return try BindingID(text.replacingAll(Self.placeholder, with: name), as: "group")
    }
  }
}

extension ItemOptionFields {
  /// The output that the request names; nil for none in particular.
  var namedOutput: String? { output.flatMap { $0.isEmpty ? nil : $0 } }
}
