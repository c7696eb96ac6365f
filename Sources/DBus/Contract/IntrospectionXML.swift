import DBusValues

extension Interface {
  /// An introspection document for a file, with the documentation as comments in the form that `gdbus-codegen` reads.
  public func xmlFile() -> String {
    var xml = IntrospectionXML(docs: .comments)
    xml.document { xml in xml.interface(self) }
    return xml.text
  }
}

/// Writes introspection data ("D-Bus Specification", *Introspection Data Format*).
struct IntrospectionXML {
  enum Docs {
    /// As `org.gtk.GDBus.DocString`, which XML parsers keep. For `Introspect`.
    case annotations
    /// As comments, which are easier to read. For files.
    case comments
  }

  private(set) var text = ""
  private var indentation: String
  private let docs: Docs

  /// - Parameter depth: the first depth of indentation.
  init(docs: Docs, depth: Int = 0) {
    self.docs = docs
    indentation = String(repeating: "  ", count: depth)
  }

  /// Appends XML that was written for this depth.
  mutating func append(_ xml: String) { text += xml }

  mutating func document(_ body: (inout IntrospectionXML) -> Void) {
    text += """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

      """
    element("node", [], body)
  }

  mutating func child(_ name: String) { element("node", [("name", name)]) }

  mutating func interface(_ interface: Interface) {
    comment(interface.name.text, interface.doc, isInterface: true)
    element("interface", [("name", interface.name.text)]) { xml in
      xml.annotations(interface.doc, interface.annotations)
      for (index, member) in interface.members.enumerated() {
        if index > 0, xml.docs == .comments { xml.text += "\n" }
        xml.member(member)
      }
    }
  }

  private mutating func member(_ member: MemberDescription) {
    switch member {
    case .method(let name, let inputs, let outputs, let doc, let annotations):
      comment(name.text, doc.text, arguments: inputs + outputs)
      element("method", [("name", name.text)]) { xml in
        xml.annotations(doc.text, annotations)
        xml.qtTypes(inputs, "In")
        xml.qtTypes(outputs, "Out")
        for argument in inputs { xml.argument(argument, "in") }
        for argument in outputs { xml.argument(argument, "out") }
      }
    case .signal(let name, let arguments, let doc, let annotations):
      comment(name.text, doc.text, arguments: arguments)
      element("signal", [("name", name.text)]) { xml in
        xml.annotations(doc.text, annotations)
        xml.qtTypes(arguments, "Out")
        for argument in arguments { xml.argument(argument, nil) }
      }
    case .property(let name, let type, let access, let emitsChanged, let doc, let annotations):
      comment(name.text, doc.text)
      element("property", [("name", name.text), ("type", type.signature), ("access", access.rawValue)]) { xml in
        xml.annotation("org.freedesktop.DBus.Property.EmitsChangedSignal", emitsChanged.rawValue)
        if let name = type.qtName { xml.annotation(QtAnnotation.type, name) }
        xml.annotations(doc.text, annotations)
      }
    }
  }

  private mutating func argument(_ argument: ArgumentDescription, _ direction: String?) {
    var attributes = [("name", argument.name), ("type", argument.type.signature)]
    if let direction { attributes.append(("direction", direction)) }
    element("arg", attributes) { xml in xml.annotations(argument.doc, []) }
  }

  /// Names the types that Qt does not find by their signatures. Without the names, its code generator stops.
  private mutating func qtTypes(_ arguments: [ArgumentDescription], _ direction: String) {
    for (index, argument) in arguments.enumerated() {
      if let type = argument.qtType { annotation("\(QtAnnotation.type).\(direction)\(index)", type) }
    }
  }

  private mutating func annotations(_ doc: @autoclosure () -> String, _ annotations: [Annotation]) {
    for item in annotations { annotation(item.name, item.value) }
    if docs == .annotations, case let doc = doc(), !doc.isEmpty { annotation("org.gtk.GDBus.DocString", doc) }
  }

  private mutating func annotation(_ name: String, _ value: String) {
    element("annotation", [("name", name), ("value", value)])
  }

  private mutating func comment(
    _ symbol: String, _ doc: @autoclosure () -> String, isInterface: Bool = false, arguments: [ArgumentDescription] = []
  ) {
    guard docs == .comments, case let doc = doc(), !doc.isEmpty || arguments.contains(where: { !$0.doc.isEmpty }) else {
      return
    }
    var lines = ["\(symbol):"]
    if isInterface { lines.append("@short_description: " + oneLine(doc.prefix { $0 != "." && $0 != "\n" })) }
    for argument in arguments where !argument.doc.isEmpty {
      lines.append("@\(argument.name): " + oneLine(argument.doc[...]))
    }
    if !doc.isEmpty {
      lines.append("")
      lines += doc.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    text += "\(indentation)<!--\n"
    for line in lines {
      // XML does not allow “--” inside a comment.
      let safe = line.reduce(into: "") { $0 += $1 == "-" && $0.last == "-" ? " -" : String($1) }
      // gdbus-codegen needs the documentation of an argument on one line.
      let width = safe.hasPrefix("@") ? Int.max : Self.commentWidth - indentation.utf8.count
      for part in wrapped(safe, width) { text += part.isEmpty ? "\n" : "\(indentation)  \(part)\n" }
    }
    text += "\(indentation)-->\n"
  }

  private static let commentWidth = 100

  /// The line in parts of at most `width` characters; a longer word is not broken.
  private func wrapped(_ line: String, _ width: Int) -> [Substring] {
    var parts: [Substring] = []
    var rest = line[...]
    while let limit = rest.index(rest.startIndex, offsetBy: width, limitedBy: rest.endIndex), limit < rest.endIndex,
      let space = rest[..<limit].lastIndex(of: " ") ?? rest.firstIndex(of: " ")
    {
      parts.append(rest[..<space])
      rest = rest[rest.index(after: space)...]
    }
    return parts + [rest]
  }

  private func oneLine(_ text: Substring) -> String {
    text.split(separator: "\n").joined(separator: " ")
  }

  private mutating func element(
    _ name: String, _ attributes: [(String, String)], _ body: (inout IntrospectionXML) -> Void = { _ in }
  ) {
    text += "\(indentation)<\(name)"
    for (name, value) in attributes { text += " \(name)=\"\(escaped(value))\"" }
    text += ">\n"
    let start = text.utf8.count
    indentation += "  "
    body(&self)
    indentation.removeLast(2)
    if text.utf8.count == start {
      text.removeLast(2)
      text += "/>\n"
    } else {
      text += "\(indentation)</\(name)>\n"
    }
  }

  private func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // Parsers replace these characters by spaces in an attribute.
      case "\n", "\t", "\r": result += "&#\(scalar.value);"
      // XML 1.0 cannot represent the other control characters.
      case "\0"..."\u{1f}", "\u{fffe}", "\u{ffff}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
