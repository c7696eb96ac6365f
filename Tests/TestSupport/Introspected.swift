public import DBusValues

/// The interfaces, methods, properties and children of an object, parsed from its answer to Introspect.
public struct Introspected {
  public struct Method: Hashable, Sendable {
    public let interface: String
    public let name: String
    public let inputs: [Argument]

    public init(interface: String, name: String, inputs: [Argument]) {
      self.interface = interface
      self.name = name
      self.inputs = inputs
    }
  }

  public struct Argument: Hashable, Sendable {
    public let name: String
    public let type: ValueType

    public init(name: String, type: ValueType) {
      self.name = name
      self.type = type
    }
  }

  public private(set) var methods: [Method] = []
  /// The interface and the name of every property.
  public private(set) var properties: [(interface: String, name: String)] = []
  /// The names of the interfaces.
  public private(set) var interfaces: [String] = []
  /// The names of the object's direct children.
  public private(set) var children: [String] = []

  /// - Returns: nil if the text is not introspection data.
  public init?(_ xml: String) {
    var inputs: [Argument] = []
    var method: String?
    var hasRoot = false
    for tag in Self.tags(of: xml) {
      switch tag.name {
      case "node":
        if let name = tag.attributes["name"] { children.append(name) }
        hasRoot = true
      case "interface":
        guard let name = tag.attributes["name"] else { return nil }
        interfaces.append(name)
      case "property":
        guard let name = tag.attributes["name"], let interface = interfaces.last else { return nil }
        properties.append((interface, name))
      case "method":
        method = tag.attributes["name"]
        inputs = []
      case "arg" where method != nil && tag.attributes["direction"] != "out":
        guard let types = tag.attributes["type"].flatMap({ Signature($0) })?.types, types.count == 1 else { return nil }
        inputs.append(Argument(name: tag.attributes["name"] ?? "", type: types[0]))
      default: break
      }
      // A method without arguments has no end tag.
      if tag.name == "/method" || tag.name == "method" && tag.isEmpty, let name = method {
        guard let interface = interfaces.last else { return nil }
        methods.append(Method(interface: interface, name: name, inputs: inputs))
        method = nil
      }
    }
    guard hasRoot else { return nil }
  }

  private struct Tag {
    let name: String
    var attributes: [String: String] = [:]
    let isEmpty: Bool
  }

  /// The tags in their order. navd writes no “>” inside attributes.
  private static func tags(of xml: String) -> [Tag] {
    xml.utf8.split(separator: UInt8(ascii: "<")).compactMap { piece in
      guard let end = piece.firstIndex(of: UInt8(ascii: ">")) else { return nil }
      let content = piece[..<end]
      let name = content.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "/") || $0 == content.first }
      var tag = Tag(name: String(Substring(name)), isEmpty: content.last == UInt8(ascii: "/"))
      // This skips documentation, which is most of the text.
      guard tag.name != "annotation" else { return tag }
      let parts = content.dropFirst(name.count).split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
      for index in stride(from: 0, to: parts.count - 1, by: 2) {
        let key = parts[index].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "=") }
        tag.attributes[String(decoding: key, as: UTF8.self)] = String(Substring(parts[index + 1]))
      }
      return tag
    }
  }
}
