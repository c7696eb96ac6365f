import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The members of the interfaces: their names and signatures. Other programs depend on them, so this file writes them out by hand a
// second time.

@Test func coordinator_members_areThoseOfTheContract() {
  #expect(
    lines(CoordinatorInterface.interface) == [
      "Present (s binding, s id, a{sv} options) → (o handle, t presentation, b changed, t serial)",
      "Toggle (s binding, s id, a{sv} options) → (b presented, o handle, t presentation, t serial)",
      "Update (s binding, a{sv} value, a{sv} options) → (b changed, t serial)",
      "Dismiss (s binding, a{sv} options) → (b changed, t serial)",
      "DismissAll (a{sv} options) → (u count, t serial)",
      "Select (s group, s tag, a{sv} options) → (o handle, t presentation, b changed, t serial)",
      "Deselect (s group, s tag, a{sv} options) → (b changed, t serial)",
      "ToggleSelection (s group, s tag, a{sv} options) → (b selected, t serial)",
      "Forget (s group, s tag, a{sv} options) → (b changed, t serial)",
      "Push (s stack, s binding, s id, a{sv} options) → (o handle, t presentation, b changed, t serial)",
      "Pop (s stack, u count, a{sv} options) → (u popped, t serial)",
      "PopTo (s stack, s binding, a{sv} options) → (u popped, t serial)",
      "SetPath (s stack, a(ssa{sv}) elements, a{sv} options) → (ao handles, at presentations, t serial)",
      "Apply (a(sav) requests, a{sv} options) → (aav replies, t serial)",
      "Wait (o handle, s phase) → (s reason, a{sv} result)",
      "Get (s binding) → (o handle, a{sv} item, t serial)",
      "GetState () → (a{sv} state, t serial)",
      "Members (s kind, s name) → (a(ssota{sv}) members)",
      "Hold (s name, a{sv} options) → (t cookie)",
      "ReleaseHold (s name, t cookie) → (u released)",
      "Holds () → (aa{sv} holders)",
      "DeclareContainerValue (s key, v default_value) → ()",
      "ContainerValue (s binding, s key) → (v value)",
      "RegisterPresenter (s destination, o path, a{sv} options) → ()",
      "UnregisterPresenter (s destination) → ()",
      "Serve (s destination, a(sa{sv}) bindings) → (as elsewhere)",
      "Destinations () → (a(sa{sv}) destinations)",
      "Closed (o handle, a{sv} outcome) → (b changed, t serial)",
      "Asking (o handle, s message) → (t serial)",
      "Ready (o handle) → (b changed, t serial)",
      "Act (o handle, s action, a{sv} parameters) → (t serial)",
      "History (u most, a{sv} filter) → (aa{sv} endings)",
      "Diagnosis () → (a{sv} diagnosis)",
      "Mistakes () → (a{ss} mistakes)",
      "Reload () → ()",
      "ImportEnvironment (a{ss} variables) → (b changed)",
      "Quit () → ()",
      "signal Presented (s binding, s id, o handle, t presentation, t serial, a{sv} item)",
      "signal Updated (s binding, s id, o handle, t presentation, t serial, a{sv} item)",
      "signal PhaseChanged (s binding, s id, o handle, t presentation, t serial, s phase, s title)",
      "signal Dismissed (s binding, s id, o handle, t presentation, t serial, s reason)",
      "signal Declined (s binding, s id, o handle, t presentation, t serial, s message)",
      "signal AskingChanged (s binding, s id, o handle, t presentation, t serial, b asking, s message, s title)",
      "signal Action (s binding, s id, o handle, t presentation, t serial, s action, a{sv} parameters)",
      "signal SelectionChanged (s group, s tag, t serial)",
      "signal PathChanged (s stack, a(ss) path, t serial)",
      "signal GroupChanged (s group, as tags, as queue, t serial)",
      "signal HoldChanged (s name, b in_force, t serial)",
      "signal ParkedChanged (aa{sv} parked, t serial)",
      "signal Requested (aa{sv} items, t serial)",
      "signal DestinationsChanged ()",
      "property Version u read const",
      "property Release s read const",
      "property Serial t read false",
      "property Limits a{st} read const",
    ])
}

@Test func presentation_members_areThoseOfTheContract() {
  #expect(
    lines(PresentationInterface.interface) == [
      "property Presentation t read const", "property Binding s read const", "property Id s read const",
      "property Destination s read const",
      "property Group s read const", "property Tag s read const", "property Stack s read const",
      "property Parent o read const", "property Phase s read true", "property Value a{sv} read true",
      "property ContainerValues a{sv} read true", "property Style s read true", "property Title s read true",
      "property Owner s read true", "property Output s read true", "property Asking b read true",
      "property Message s read true", "property Since t read true", "property Pid t read true",
      "property Unit s read true", "property Queued u read true", "property HeldBy as read true",
      "property RestartAt t read true",
      "Dismiss (a{sv} options) → (b changed, t serial)",
      "Update (a{sv} value, a{sv} options) → (b changed, t serial)",
      "Wait (s phase) → (s reason, a{sv} result)",
    ])
}

@Test func containers_members_areThoseOfTheContract() {
  #expect(
    lines(GroupInterface.interface) == [
      "property Name s read const", "property Selection s read true", "property Tags as read true",
      "property Titles a{ss} read true", "property Queue as read true", "property Hidden as read true",
    ])
  #expect(
    lines(StackInterface.interface) == [
      "property Name s read const", "property Path as read true", "property Ids as read true",
    ])
  #expect(
    lines(HoldInterface.interface) == [
      "property Name s read const", "property Since t read true", "property Holders u read true",
      "property Messages as read true",
    ])
}

@Test func presenter_members_areThoseOfTheContract() {
  #expect(
    lines(PresenterInterface.interface) == [
      "Present (o handle, s binding, s id, a{sv} item) → ()",
      "Update (o handle, a{sv} item) → ()",
      "Dismiss (o handle, s reason, a{sv} options) → (a{sv} result)",
    ])
}

@Test func windowSystem_members_areThoseOfTheContract() {
  #expect(
    lines(WindowSystemInterface.interface) == [
      "GetWindows () → (a(sa{sv}) windows, t serial)",
      "Close (s id) → ()",
      "Activate (s id) → ()",
      "Hide (s id) → ()",
      "Show (s id) → ()",
      "MoveToOutput (s id, s output) → ()",
      "Summon (s id) → ()",
      "Place (s id, a{sv} options) → ()",
      "Expect (s presentation, a{sv} options) → ()",
      "signal Opened (s id, a{sv} properties, t serial)",
      "signal Changed (s id, a{sv} changed, t serial)",
      "signal Closed (s id, t serial)",
      "property Capabilities as read true",
      "property Outputs as read true",
      "property FocusedOutput s read true",
      "property Backend s read true",
      "property Displays as read true",
    ])
  #expect(WindowSystemInterface.object == "/org/navd/WindowSystem1")
  #expect(WindowSystemInterface.bus == "org.navd.WindowSystem1")
}

@Test func contract_everyMember_isDocumented() {
  for interface in Contract.interfaces {
    #expect(!interface.doc.isEmpty)
    for member in interface.members {
      switch member {
      case .method(let name, _, _, let doc, _), .signal(let name, _, let doc, _),
        .property(let name, _, _, _, let doc, _):
        #expect(!doc.text.isEmpty, "\(interface.name).\(name)")
      }
    }
  }
}

/// To regenerate a file: `navctl introspect --xml INTERFACE > dbus/INTERFACE.xml`.
@Test(arguments: Contract.interfaces.map(\.name))
func contract_fileInDbus_matchesTheTable(name: InterfaceName) throws {
  let interface = try #require(Contract.interfaces.first { $0.name == name })
  #expect(try Files.text(inPackage: "dbus/\(name).xml") == interface.xmlFile())
}

@Test func changingMethods_options_areThoseOfTheirTables() throws {
  #expect(CoordinatorInterface.changingMethods.count == 13)
  for method in CoordinatorInterface.changingMethods {
    #expect(method.inputs.last?.name == "options")
    #expect(method.options["animated"] != nil, "\(method.name)")
  }
  #expect(throws: Refusal.self) { try CoordinatorInterface.changingMethod("Wait") }
}

@Test func changingMethod_arguments_areCheckedByCountAndType() throws {
  let pop = try CoordinatorInterface.changingMethod("Pop")
  let arguments: [Value] = [.string("main"), .uint32(2), Properties().value]
  #expect(try pop.checked(arguments).map(\.type) == [.string, .uint32, .properties])
  let few = try #require(throws: Refusal.self) { try pop.checked([.string("main")]) }
  #expect(few.message == "Pop: expected 3 arguments (stack, count, options), found 1")
  let other = try #require(throws: Refusal.self) {
    try pop.checked([.string("main"), .string("2"), Properties().value])
  }
  #expect(other == Refusal(.invalidArgument, "Pop's argument “count”: expected the type u, found s"))
}

@Test func changingMethod_integerArgument_mayBeOfEveryTypeThatFits() throws {
  let pop = try CoordinatorInterface.changingMethod("Pop")
  for count in [Value.byte(2), .int32(2), .int64(2), .double(2)] {
    let arguments = try pop.checked([.string("main"), count, Properties().value])
    #expect(arguments[1].type == .uint32 && arguments[1] == .uint32(2))
  }
  let negative = try #require(throws: Refusal.self) {
    try pop.checked([.string("main"), .int32(-1), Properties().value])
  }
  #expect(
    negative
      == Refusal(
        .invalidArgument, "Pop's argument “count”: expected an integer from 0 to 4294967295, found -1"))
}

@Test func changingMethod_argumentsFromJSON_areOfTheirDeclaredTypes() throws {
  let path = try CoordinatorInterface.changingMethod("SetPath")
  let json = try JSON.parse(#"["main",[["a","1",{"timeout":5}],["","2",{}]],{"animated":false}]"#)
  let arguments = try path.arguments(json: try #require(json.array))
  #expect(try path.checked(arguments) == arguments)
  let elements = try #require([Structure<String, String, Properties>](value: arguments[1]))
  #expect(elements[0].fields.2[Options.timeout] == 5)
  #expect(elements.map(\.fields.1) == ["1", "2"])
  #expect(Properties(value: arguments[2])?[Options.animated] == false)
}

@Test(
  arguments: [
    (
      #"["main",[["a","1",{"timeout":"5"}]],{}]"#, [JSON.Step.element(1), .element(0), .element(2), .member("timeout")]
    ),
    (#"["main",[["a","1",{"expected-id":"5"}]],{}]"#, [.element(1), .element(0), .element(2), .member("expected-id")]),
    (#"["main",[["a","1"]],{}]"#, [.element(1), .element(0)]),
    (#"["main",[],{"timeout":5}]"#, [.element(2), .member("timeout")]),
    (#"[1,[],{}]"#, [.element(0)]), (#"["main",[]]"#, []),
  ] as [(String, [JSON.Step])])
func changingMethod_mistakeInJSON_hasItsPosition(text: String, path: [JSON.Step]) throws {
  let json = try #require(try JSON.parse(text).array)
  let method = try CoordinatorInterface.changingMethod("SetPath")
  let mismatch = try #require(throws: JSON.Mismatch.self) { try method.arguments(json: json) }
  #expect(mismatch.path == path)
}

private func lines(_ interface: Interface) -> [String] {
  func list(_ arguments: [ArgumentDescription]) -> String {
    "(" + arguments.map { "\($0.type) \($0.name)" }.joined(separator: ", ") + ")"
  }
  return interface.members.map { member in
    switch member {
    case .method(let name, let inputs, let outputs, _, _): "\(name) \(list(inputs)) → \(list(outputs))"
    case .signal(let name, let arguments, _, _): "signal \(name) \(list(arguments))"
    case .property(let name, let type, let access, let emitsChanged, _, _):
      "property \(name) \(type) \(access.rawValue) \(emitsChanged.rawValue)"
    }
  }
}
