import CoordinatorAPI
import DBus
import DBusValues
import TextFormats

/// A D-Bus interface as a list of its members for people, and as JSON.
enum InterfaceText {
  static func plain(_ interface: Interface) -> String {
    var text = interface.name.text + "\n"
    text += indented(interface.doc)
    for member in interface.members {
      let (line, doc) = describe(member)
      text += "\n  \(line)\n" + indented(doc)
    }
    return text
  }

  private static func describe(_ member: MemberDescription) -> (line: String, doc: String) {
    switch member {
    case .method(let name, let inputs, let outputs, let doc, _):
      ("\(name) \(list(inputs)) → \(list(outputs))", doc.text)
    case .signal(let name, let arguments, let doc, _): ("signal \(name) \(list(arguments))", doc.text)
    case .property(let name, let type, let access, let emitsChanged, let doc, _):
      ("property \(name) \(type.signature) (\(access.rawValue), signals changes: \(emitsChanged.rawValue))", doc.text)
    }
  }

  private static func list(_ arguments: [ArgumentDescription]) -> String {
    "(" + arguments.map { "\($0.type.signature) \($0.name)" }.joined(separator: ", ") + ")"
  }

  private static func indented(_ doc: String) -> String {
    doc.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "\n" : "      \($0)\n" }.joined()
  }

  static func json(_ interface: Interface) -> JSON {
    [
      "interface": .string(interface.name.text), "doc": .string(interface.doc),
      "members": .array(interface.members.map(json)),
    ]
  }

  private static func json(_ member: MemberDescription) -> JSON {
    func list(_ arguments: [ArgumentDescription]) -> JSON {
      .array(
        arguments.map {
          ["name": .string($0.name), "type": .string($0.type.signature), "doc": .string($0.doc)]
        })
    }
    switch member {
    case .method(let name, let inputs, let outputs, let doc, _):
      return ["method": .string(name.text), "in": list(inputs), "out": list(outputs), "doc": .string(doc.text)]
    case .signal(let name, let arguments, let doc, _):
      return ["signal": .string(name.text), "arguments": list(arguments), "doc": .string(doc.text)]
    case .property(let name, let type, let access, let emitsChanged, let doc, _):
      return [
        "property": .string(name.text), "type": .string(type.signature), "access": .string(access.rawValue),
        "emits-changed": .string(emitsChanged.rawValue), "doc": .string(doc.text),
      ]
    }
  }
}
