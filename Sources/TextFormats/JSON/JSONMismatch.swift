extension JSON {
  /// Why a JSON value cannot travel as what is declared, and which value inside it.
  public struct Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
    /// From the value that was to be converted to the one that cannot be.
    public var path: [Step]
    public var why: String
    public var description: String {
      let place = path.map { step in
        switch step {
        case .member(let name): "[\(JSON.string(name).text)]"
        case .element(let index): "[\(index)]"
        }
      }
      return place.isEmpty ? why : "\(place.joined()): \(why)"
    }

    public init(path: [Step] = [], why: String) {
      self.path = path
      self.why = why
    }

    /// The same, seen from a value further out.
    package func inside(_ step: Step) -> Mismatch { Mismatch(path: [step] + path, why: why) }
  }
}
