import CoordinatorAPI
import DBus
import DBusValues

/// The pages' texts about the interfaces.
enum Interfaces {
  /// The bus name and the object of an interface.
  static func location(of interface: Interface) -> String {
    switch interface.name {
    case CoordinatorInterface.name: "`\(CoordinatorNames.bus)` on the session bus, object `\(CoordinatorNames.object)`"
    case PresentationInterface.name:
      "`\(CoordinatorNames.bus)` on the session bus, objects `\(CoordinatorNames.presentations)/`*number*"
    case GroupInterface.name: objects(below: ContainerObjects.groups)
    case StackInterface.name: objects(below: ContainerObjects.stacks)
    case HoldInterface.name: objects(below: ContainerObjects.holds)
    case WindowSystemInterface.name:
      "`\(WindowSystemInterface.bus)` on the session bus, object `\(WindowSystemInterface.object)`"
    default: "an object of the presenter's own"
    }
  }

  private static func objects(below path: ObjectPath) -> String {
    "`\(CoordinatorNames.bus)` on the session bus, objects `\(path)/`*name*"
  }

  /// The members by kind, in the order of the table.
  static func members(_ interface: Interface) -> [(title: String, members: [MemberDescription])] {
    [
      ("Methods", interface.members.filter { if case .method = $0 { true } else { false } }),
      ("Signals", interface.members.filter { if case .signal = $0 { true } else { false } }),
      ("Properties", interface.members.filter { if case .property = $0 { true } else { false } }),
    ].filter { !$0.1.isEmpty }
  }

  static func types(_ arguments: [ArgumentDescription]) -> String {
    arguments.map { "\($0.type.signature) \($0.name)" }.joined(separator: ", ")
  }
}

/// The manual page of an interface, such as `org.navd.Coordinator1`(5).
struct InterfacePage {
  private(set) var text = ""

  init(_ interface: Interface) {
    let short = interface.doc.prefix { $0 != "." }.split(separator: "\n").joined(separator: " ")
    var page = ManualPage(
      interface.name.text, section: 5, release: Release.version, manual: "D-Bus Interfaces",
      summary: "D-Bus interface of navd: \(ManualPage.summary(short))")
    page.heading("Synopsis")
    page.paragraph(Interfaces.location(of: interface).filter { $0 != "*" })
    page.heading("Description")
    page.doc(interface.doc)
    for (title, members) in Interfaces.members(interface) {
      page.heading(title)
      for member in members { describe(member, &page) }
    }
    page.heading("See also")
    let others = Contract.interfaces.map(\.name.text).filter { $0 != interface.name.text }.map { "`\($0)`(5)" }
    page.paragraph((["`navctl`(1)", "`navd`(8)"] + others).joined(separator: ", "))
    text = page.text
  }

  private func describe(_ member: MemberDescription, _ page: inout ManualPage) {
    switch member {
    case .method(let name, let inputs, let outputs, let doc, _):
      page.subheading("\(name)(\(Interfaces.types(inputs))) → (\(Interfaces.types(outputs)))")
      page.doc(doc.text)
      list("Arguments", inputs, &page)
      list("Results", outputs, &page)
    case .signal(let name, let arguments, let doc, _):
      page.subheading("\(name)(\(Interfaces.types(arguments)))")
      page.doc(doc.text)
      list("Arguments", arguments, &page)
    case .property(let name, let type, let access, let emitsChanged, let doc, _):
      page.item(
        ManualPage.bold(name.text) + ManualPage.escaped(" (\(type.signature))"),
        "\(doc.text) (\(access.rawValue); change signal: \(emitsChanged.rawValue))")
    }
  }

  /// Lists the arguments that have documentation; for the others, the names are enough.
  private func list(_ title: String, _ arguments: [ArgumentDescription], _ page: inout ManualPage) {
    let documented = arguments.filter { !$0.doc.isEmpty }
    guard !documented.isEmpty else { return }
    page.paragraph("\(title):")
    for argument in documented { page.item(ManualPage.bold(argument.name), argument.doc) }
  }
}
