import CoordinatorAPI
import DBus
import DBusValues
import TextFormats

/// The interfaces for docs/dbus.md: the text of `navctl introspect`, for readers on the web.
enum InterfaceReference {
  static var lists: [String: String] {
    [
      "interfaces": Contract.interfaces.map(contents).joined(separator: "\n"),
      "members": String(Contract.interfaces.map(section).joined(separator: "\n").dropLast()),
    ]
  }

  /// The bus name and the object of an interface.
  private static func location(of interface: Interface) -> String {
    let below = "`\(CoordinatorNames.bus)` on the session bus, objects "
    return switch interface.name {
    case CoordinatorInterface.name: "`\(CoordinatorNames.bus)` on the session bus, object `\(CoordinatorNames.object)`"
    case PresentationInterface.name: below + "`\(CoordinatorNames.presentations)/`*number*"
    case GroupInterface.name: below + "`\(ContainerObjects.groups)/`*name*"
    case StackInterface.name: below + "`\(ContainerObjects.stacks)/`*name*"
    case HoldInterface.name: below + "`\(ContainerObjects.holds)/`*name*"
    case WindowSystemInterface.name:
      "`\(WindowSystemInterface.bus)` on the session bus, object `\(WindowSystemInterface.object)`"
    default: "an object of the presenter's own"
    }
  }

  /// The members by kind, in the order of the table.
  private static func kinds(of interface: Interface) -> [(kind: String, members: [MemberDescription])] {
    func kind(_ member: MemberDescription) -> String {
      switch member {
      case .method: "Methods"
      case .signal: "Signals"
      case .property: "Properties"
      }
    }
    return ["Methods", "Signals", "Properties"].map { name in (name, interface.members.filter { kind($0) == name }) }
      .filter { !$0.1.isEmpty }
  }

  /// The line of an interface in the list of contents.
  private static func contents(_ interface: Interface) -> String {
    let members = kinds(of: interface).map { kind, members in
      (kind == "Methods" ? ": " : " · ")
        + members.map { member in
          "[\(member.name)](#\(anchor(kind == "Properties" ? "Properties of \(interface.name)" : title(member, interface))))"
        }.joined(separator: ", ")
    }
    return "* [`\(interface.name)`](#\(anchor(interface.name.text)))\(members.joined())"
  }

  private static func section(_ interface: Interface) -> String {
    var text = "## \(interface.name)\n\nAt \(location(of: interface)).\n\n" + markdown(interface.doc)
    for (kind, members) in kinds(of: interface) {
      if kind == "Properties" {
        text += "\n### \(kind) of \(interface.name)\n\n| property | type | change signal | |\n|---|---|---|---|\n"
      }
      text += members.map { describe($0, title($0, interface)) }.joined()
    }
    return text
  }

  private static func describe(_ member: MemberDescription, _ title: String) -> String {
    func types(_ arguments: [ArgumentDescription]) -> String {
      arguments.map { "\($0.type.signature) \($0.name)" }.joined(separator: ", ")
    }
    return switch member {
    case .method(let name, let inputs, let outputs, let doc, _):
      "\n### \(title)\n\n`\(name)(\(types(inputs))) → (\(types(outputs)))`\n\n\(markdown(doc.text))"
        + table("argument", inputs) + table("result", outputs)
    case .signal(let name, let arguments, let doc, _):
      "\n### \(title)\n\nsignal `\(name)(\(types(arguments)))`\n\n\(markdown(doc.text))" + table("argument", arguments)
    case .property(let name, let type, _, let emitsChanged, let doc, _):
      // A line break would end the row.
      "| `\(name)` | `\(type.signature)` | \(emitsChanged.rawValue) | \(escaped(doc.text).replacingAll("\n", with: "<br>")) |\n"
    }
  }

  /// A heading that is unique in the document: members of different interfaces share names.
  private static func title(_ member: MemberDescription, _ interface: Interface) -> String {
    interface.name == CoordinatorInterface.name
      ? member.name.text : "\(interface.name.text.split(separator: ".").last ?? "").\(member.name)"
  }

  /// The anchor that common Markdown renderers make from a heading.
  private static func anchor(_ heading: String) -> String {
    heading.lowercased().replacingAll(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
  }

  private static func table(_ title: String, _ arguments: [ArgumentDescription]) -> String {
    guard arguments.contains(where: { !$0.doc.isEmpty }) else { return "" }
    let rows = arguments.map { "| `\($0.name)` | `\($0.type.signature)` | \(escaped($0.doc)) |\n" }
    return "\n| \(title) | | |\n|---|---|---|\n" + rows.joined()
  }

  /// Makes a list of lines such as `priority (i): Its priority in a queue …`, and a paragraph of each other line.
  private static func markdown(_ doc: String) -> String {
    var (text, wasItem) = ("", false)
    for line in doc.split(separator: "\n") {
      let item = item(line)
      text += "\(text.isEmpty || wasItem && item != nil ? "" : "\n")\(item ?? escaped(line))\n"
      wasItem = item != nil
    }
    return text
  }

  private static func item(_ line: Substring) -> String? {
    guard let (name, rest) = line.parted(at: " ("), let (type, doc) = rest.parted(at: ")"),
      !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLowercase || $0 == "-") }),
      let mark = doc.first, mark == ":" || mark == "."
    else { return nil }
    let description = doc.dropFirst().drop { $0 == " " }
    return "* `\(name)` (`\(type)`)\(description.isEmpty ? "" : ": \(escaped(description))")"
  }

  /// The text with markup characters escaped.
  private static func escaped(_ text: some StringProtocol) -> String {
    text.reduce(into: "") { $0 += "*_<>|\\".contains($1) ? "\\\($1)" : String($1) }
  }
}
