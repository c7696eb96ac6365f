import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// The running daemon beside the files in dbus/, from which other programs are built.

/// The document type for introspection, from the package libdbus-1-dev, which the build requires.
private let documentType = "/usr/share/xml/dbus-1/introspect.dtd"
private let introspect = Method(
  "org.freedesktop.DBus.Introspectable", "Introspect", out: Arg<String>("xml_data"))

/// The tags of an XML text, each with its attributes in order. Comments, text and documentation are left out.
private func tags(of xml: String) -> [String] {
  var tags: [String] = []
  var rest = xml[...]
  while let start = rest.firstIndex(of: "<") {
    rest = rest[start...]
    if rest.hasPrefix("<!--") {
      rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
      continue
    }
    // An attribute may contain “>”.
    var isQuoted = false
    let end = rest.firstIndex {
      if $0 == "\"" { isQuoted.toggle() }
      return $0 == ">" && !isQuoted
    }
    guard let end else { break }
    let tag = rest[rest.index(after: rest.startIndex)..<end]
    rest = rest[rest.index(after: end)...]
    if tag.hasPrefix("!") || tag.hasPrefix("?") { continue }
    let isEmpty = tag.hasSuffix("/")
    let (name, attributes) = parse(isEmpty ? tag.dropLast() : tag)
    if attributes.contains("name=org.gtk.GDBus.DocString") { continue }
    tags.append(([name] + attributes.sorted()).joined(separator: " "))
    if isEmpty { tags.append("/\(name)") }
  }
  return tags
}

private func parse(_ tag: Substring) -> (name: String, attributes: [String]) {
  let parts = tag.split(separator: "\"", omittingEmptySubsequences: false)
  let words = parts[0].split(whereSeparator: \.isWhitespace)
  var attributes: [String] = []
  for index in stride(from: 1, to: parts.count, by: 2) {
    let key = parts[index - 1].split(whereSeparator: \.isWhitespace).last ?? ""
    attributes.append("\(key)\(parts[index])")
  }
  return (String(words.first ?? ""), attributes)
}

/// The tags of one interface, from its opening tag to its closing tag.
private func interface(_ name: String, of tags: [String]) -> [String] {
  guard let start = tags.firstIndex(of: "interface name=\(name)") else { return [] }
  let end = tags[start...].firstIndex(of: "/interface") ?? tags.endIndex
  return Array(tags[start..<end])
}

extension Session {
  /// Makes an object of each interface that navd implements.
  fileprivate func objects() throws -> [(name: InterfaceName, path: ObjectPath)] {
    let presentation = try present("fact")
    try call(CoordinatorInterface.select, ("panels", "a", .state))
    try call(CoordinatorInterface.push, ("main", "first", "", .state))
    try call(CoordinatorInterface.hold, ("dnd", [:]))
    return [
      (CoordinatorInterface.name, CoordinatorNames.object), (PresentationInterface.name, presentation),
      (GroupInterface.name, ContainerObjects.groups.appending(encoding: "panels")),
      (StackInterface.name, ContainerObjects.stacks.appending(encoding: "main")),
      (HoldInterface.name, ContainerObjects.holds.appending(encoding: "dnd")),
    ]
  }
}

@Test("The files in dbus/ say the same as the running daemon's answer to Introspect")
func contract_files_areWhatTheDaemonSays() throws {
  let session = try Session()
  let objects = try session.objects()
  for (name, path) in objects {
    let said = interface(name.text, of: tags(of: try session.call(introspect, (), at: path)))
    let written = interface(name.text, of: tags(of: try Files.text(inPackage: "dbus/\(name).xml")))
    #expect(!said.isEmpty)
    #expect(said == written)
  }
  // Presenters and adapters of windows implement the other interfaces; navctl prints all from the same table.
  for name in Contract.interfaces.map(\.name) {
    let run = try session.navctl("introspect", name.text, "--xml")
    #expect(run.outputText == (try Files.text(inPackage: "dbus/\(name).xml")))
  }
}

@Test("The XML of each interface and of each object's introspection is valid by the D-Bus DTD")
func contract_xml_isValid() throws {
  let session = try Session()
  let objects = try session.objects().map(\.path)
  func validate(_ arguments: String..., input: String = "") throws {
    let lint = try session.run(
      program: "/usr/bin/xmllint", ["--nonet", "--noout", "--dtdvalid", documentType] + arguments, input: input)
    #expect(lint.exitCode == 0, "\(lint.errorText)")
    #expect(lint.errorText == "")
  }
  for name in Contract.interfaces.map(\.name) {
    try validate("\(Files.package)/dbus/\(name).xml")
  }
  let paths: [ObjectPath] = [
    "/", "/org", "/org/navd", CoordinatorNames.presentations, ContainerObjects.groups, ContainerObjects.stacks,
  ]
  for path in paths + objects { try validate("-", input: try session.call(introspect, (), at: path)) }
}

// GeneratorTests.swift has its C.
@Test("gdbus-codegen makes documentation of the files without a warning")
func contract_files_areAcceptedByCodegen() throws {
  let session = try Session(starting: false)
  let files = Contract.interfaces.map { "\(Files.package)/dbus/\($0.name).xml" }
  for arguments in [
    ["--generate-docbook", session.path("docs")], ["--interface-info-body", "--output", session.path("info.c")],
    ["--generate-rst", session.path("rst")],
  ] {
    let run = try session.run(program: "/usr/bin/gdbus-codegen", arguments + files)
    #expect(run.exitCode == 0, "\(arguments)")
    #expect(run.errorText == "", "\(arguments)")
  }
}

@Test("gdbus and busctl can introspect and call the daemon")
func contract_daemon_isReadByOtherTools() throws {
  let session = try Session(destinations: ["wrong": "command = 3\n"])
  let presentation = try session.present("fact", "1", ["title": .string("Fact")])
  let gdbus = try session.run(
    program: "/usr/bin/gdbus",
    ["introspect", "--session", "--dest", "org.navd.Coordinator1", "--object-path", "/", "--recurse"])
  #expect(gdbus.exitCode == 0)
  #expect(gdbus.errorText == "")
  #expect(gdbus.outputText.contains("node \(presentation)"))
  #expect(gdbus.outputText.contains("readonly s Title = 'Fact'"))
  let call = try session.run(
    program: "/usr/bin/gdbus",
    [
      "call", "--session", "--dest", "org.navd.Coordinator1", "--object-path", "/org/navd/Coordinator1", "--method",
      "org.navd.Coordinator1.Present", "note", "7", "{'state': <true>, 'title': <'Note'>, 'value': <{'n': <3>}>}",
    ])
  #expect(call.outputText == "(objectpath '/org/navd/Coordinator1/presentation/2', uint64 2, true, uint64 2)\n")

  func busctl(_ arguments: String...) throws -> String {
    let run = try session.run(program: "/usr/bin/busctl", ["--address=\(session.bus.address)"] + arguments)
    #expect(run.exitCode == 0, "\(run.errorText)")
    return run.outputText
  }
  #expect(try busctl("tree", "--list", "org.navd.Coordinator1").contains("\(presentation)\n"))
  let members = try busctl("introspect", "org.navd.Coordinator1", "/org/navd/Coordinator1")
  for member in CoordinatorInterface.interface.members { #expect(members.contains("\n.\(member.name) ")) }
  // Each line is as wide as the widest value, which is that of Limits. Texts, as of mistakes, would be wider.
  let widest = members.split(separator: "\n").map(\.count).max() ?? 0
  #expect(!members.contains("wrong") && widest < 450, "\(widest) columns")
  #expect(
    try busctl(
      "call", "org.navd.Coordinator1", "/org/navd/Coordinator1", "org.navd.Coordinator1", "Dismiss", "sa{sv}", "fact",
      "0")
      == "bt true 3\n")
  #expect(
    try busctl("get-property", "org.navd.Coordinator1", "/org/navd/Coordinator1", "org.navd.Coordinator1", "Version")
      == "u \(CoordinatorInterface.currentVersion)\n")
  let objects = try busctl(
    "--json=short", "call", "org.navd.Coordinator1", "/org/navd/Coordinator1", "org.freedesktop.DBus.ObjectManager",
    "GetManagedObjects")
  #expect(objects.contains("presentation/2"))
  #expect(!objects.contains("presentation/1\""))
}

@Test("The calls in docs/dbus.md do what the document says")
func contract_callsInTheDocument_areAnswered() throws {
  let session = try Session(destinations: ["calendar": "state = true\n"])
  try session.call(CoordinatorInterface.select, ("panels", "a", .state))
  let block = try #require(try Markdown("dbus.md").blocks.first { $0.text.hasPrefix("busctl") })
  try session.write("set -e\n" + block.text, to: "calls.sh")
  let run = try session.run(program: "/bin/sh", [session.path("calls.sh")])
  #expect(run.errorText == "")
  #expect(
    run.outputText == """
      otbt "/org/navd/Coordinator1/presentation/2" 2 true 4
      (true, uint64 5)
      s "a"

      """)
}
