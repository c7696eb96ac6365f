// Why this file exists: docs/dbus.md, for those who read on the web what others read with man(1).

import CoordinatorAPI
import DBus
import DBusValues

enum InterfaceReference {
  static var text: String {
    var text = """
      # The D-Bus interfaces

      <!-- Made by “make docs” of the tables in Sources/CoordinatorAPI; what is written here by hand is lost. -->

      The same is in `navctl introspect`, in the manual pages (`man org.navd.Coordinator1`), and, for generators of code, in
      [dbus/](../dbus). Types are D-Bus signatures: `s` text, `b` yes or no, `t` and `u` numbers, `o` an object path, `a{sv}` options.


      """
    for interface in Interfaces.all {
      text += "* [`\(interface.name)`](#\(anchor(interface.name.text)))"
      for (title, members) in Interfaces.members(interface) {
        text += "\(title == "Methods" ? ":" : " ·") \(members.map { link($0, interface) }.joined(separator: ", "))"
      }
      text += "\n"
    }
    for interface in Interfaces.all { text += section(interface) }
    return text
  }

  private static func section(_ interface: Interface) -> String {
    var text = "\n## \(interface.name)\n\nAt \(Interfaces.place(of: interface)).\n\n" + markdown(interface.doc)
    for (title, members) in Interfaces.members(interface) {
      if title == "Properties" {
        text += "\n### \(title) of \(interface.name)\n\n| property | type | changes told | |\n|---|---|---|---|\n"
        for case .property(let name, let type, _, let emitsChanged, let doc, _) in members {
          text += "| `\(name)` | `\(type.signature)` | \(emitsChanged.rawValue) | \(escaped(doc)) |\n"
        }
        continue
      }
      for member in members { text += describe(member, interface) }
    }
    return text
  }

  private static func describe(_ member: MemberDescription, _ interface: Interface) -> String {
    var text = "\n### \(title(member, interface))\n\n"
    switch member {
    case .method(let name, let inputs, let outputs, let doc, _):
      text += "`\(name)(\(types(inputs))) → (\(types(outputs)))`\n\n" + markdown(doc)
      text += table("takes", inputs) + table("gives", outputs)
    case .signal(let name, let arguments, let doc, _):
      text += "signal `\(name)(\(types(arguments)))`\n\n" + markdown(doc) + table("carries", arguments)
    case .property: break
    }
    return text
  }

  /// Members of different interfaces have the same names, and headings must not.
  private static func title(_ member: MemberDescription, _ interface: Interface) -> String {
    interface.name == CoordinatorInterface.name
      ? member.name.text : "\(interface.name.text.split(separator: ".").last ?? "").\(member.name)"
  }

  private static func link(_ member: MemberDescription, _ interface: Interface) -> String {
    if case .property = member {
      return "[\(member.name)](#\(anchor("Properties of \(interface.name)")))"
    }
    return "[\(member.name)](#\(anchor(title(member, interface))))"
  }

  /// As the usual renderers name a heading.
  private static func anchor(_ heading: String) -> String {
    heading.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
  }

  private static func table(_ title: String, _ arguments: [ArgumentDescription]) -> String {
    guard arguments.contains(where: { !$0.doc.isEmpty }) else { return "" }
    let rows = arguments.map { "| `\($0.name)` | `\($0.type.signature)` | \(escaped($0.doc)) |\n" }
    return "\n| \(title) | | |\n|---|---|---|\n" + rows.joined()
  }

  private static func types(_ arguments: [ArgumentDescription]) -> String {
    arguments.map { "\($0.type.signature) \($0.name)" }.joined(separator: ", ")
  }

  private static func markdown(_ doc: String) -> String {
    var text = ""
    var wasItem = false
    for block in DocText.blocks(doc) {
      switch block {
      case .paragraph(let paragraph):
        text += "\(text.isEmpty ? "" : "\n")\(escaped(paragraph))\n"
        wasItem = false
      case .item(let term, let doc):
        let name = term.prefix { $0 != " " }
        let type = term.drop { $0 != "(" }.dropFirst().dropLast()
        text +=
          "\(wasItem || text.isEmpty ? "" : "\n")* `\(name)` (`\(type)`)\(doc.isEmpty ? "" : ": \(escaped(doc))")\n"
        wasItem = true
      }
    }
    return text
  }

  /// What would be markup.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { $0 += "*_<>|\\".contains($1) ? "\\\($1)" : String($1) }
  }
}
