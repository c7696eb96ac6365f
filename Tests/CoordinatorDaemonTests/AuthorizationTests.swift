import CoordinatorAPI
import CoordinatorCore
import DBusValues
import Glibc
import PresentationModel
import PresentationRules
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// Authorization of clients: the look-up of who they are, the requests that wait for it, and what needs a privilege (L3).

private enum Example {
  static let name: InterfaceName = "org.example.Example"
  static let path: ObjectPath = "/example"
  /// A method that needs a privilege if its argument says so.
  static let ask = Method(name, "Ask", in: Arg<String>("text"), Arg<Bool>("privileged"), out: Arg<String>("text"))
}

private let unconfined: Properties = ["ProcessID": .uint32(UInt32(getpid()))]
private let snap: Properties = [
  "ProcessID": .uint32(UInt32(getpid())), "LinuxSecurityLabel": .bytes(Array("snap.a.b (enforce)\0".utf8)),
]

/// A method that needs a privilege, clients that call it, and a bus that says who they are when the test wants it to.
private final class AuthorizationFixture {
  let bus: BusFixture
  private(set) var authorization: Authorization!
  let client: Connection
  /// The texts of the calls that were carried out.
  private(set) var carriedOut: [String] = []
  /// The answers received.
  private(set) var answers: [String] = []
  private var lookUps: [(client: BusName, answer: (Result<Credentials, DBusError>) -> Void)] = []

  init(limits: Connection.Limits = .init()) throws {
    bus = try BusFixture(limits: limits)
    client = try bus.connect()
    authorization = Authorization(bus.connection) { [unowned self] in lookUps.append(($0, $1)) }
    let object = ImplementedInterface(Interface(Example.name, members: [Example.ask]))
    object.implement(Example.ask) { [unowned self] input, call in
      authorization.authorize(input.1 ? Authorization.Privilege(.registeringPresenters) : nil, call) {
        [unowned self] trust throws(Refusal) in
        if input.0.hasPrefix("another"), trust != .trusted {
          var refusal = Refusal(.accessDenied, input.0)
          refusal.needsTrust = true
          throw refusal
        }
        carriedOut.append(input.0)
        return input.0
      }
    }
    bus.connection.export(Example.path, [object])
  }

  var lookedUp: [BusName] { lookUps.map(\.client) }

  func ask(_ text: String, privileged: Bool = true, by connection: Connection? = nil) throws {
    (connection ?? client).call(
      Example.ask, on: bus.connection.uniqueName, at: Example.path, (text, privileged), timeout: nil
    ) { [unowned self] result in
      switch result {
      case .success(let text): answers.append(text)
      case .failure(let error): answers.append("\(error.name): \(error.message)")
      }
    }
    try bus.settle()
  }

  /// Answers the oldest question about a client.
  func answer(_ result: Result<Properties, DBusError>) throws {
    try #require(!lookUps.isEmpty)
    lookUps.removeFirst().answer(result.map(Credentials.init))
    try bus.settle()
  }
}

private let refusal =
  "org.navd.Error.AccessDenied: RegisterPresenter: not available to programs in a sandbox, and "

@Test func authorization_noPrivilegeNeeded_isCarriedOutAtOnce() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("a", privileged: false)
  #expect(fixture.answers == ["a"])
  #expect(fixture.lookedUp == [])
}

@Test("L3: a client outside of any sandbox is authorized, and looked up once")
func authorization_unconfinedClient_isCarriedOut() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("a")
  #expect(fixture.lookedUp == [fixture.client.uniqueName])
  #expect(fixture.answers == [])
  try fixture.answer(.success(unconfined))
  try fixture.ask("b")
  #expect(fixture.answers == ["a", "b"])
  #expect(fixture.lookedUp == [])
}

@Test("L3: a client in a sandbox is refused, and looked up once")
func authorization_sandboxedClient_isRefused() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("a")
  try fixture.answer(.success(snap))
  try fixture.ask("b")
  let answer = refusal + "the sender is in one (Snap); name a destination that the user's files declare"
  #expect(fixture.answers == [answer, answer])
  #expect(fixture.lookedUp == [])
  #expect(fixture.carriedOut == [])
  // All other methods stay open to the client.
  try fixture.ask("c", privileged: false)
  #expect(fixture.carriedOut == ["c"])
}

@Test("L3: a request that turns out to need an unconfined client is carried out when navd knows that its client is one")
func authorization_requestThatNeedsTrust_isRepeatedWhenTheClientIsKnown() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("another's", privileged: false)
  try fixture.ask("next", privileged: false)
  #expect(fixture.answers == [] && fixture.carriedOut == [])
  try fixture.answer(.success(unconfined))
  try fixture.ask("another's again", privileged: false)
  #expect(fixture.carriedOut == ["another's", "next", "another's again"])
  #expect(fixture.lookedUp == [])
}

@Test(
  "L3: a request that turns out to need an unconfined client is refused to a client in a sandbox, and the refusal names what it asked for"
)
func authorization_requestThatNeedsTrustOfASandboxedClient_isRefused() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("another's", privileged: false)
  try fixture.answer(.success(snap))
  try fixture.ask("another's", privileged: false)
  try fixture.ask("next", privileged: false)
  let refusal =
    "org.navd.Error.AccessDenied: another's: not available to programs in a sandbox, and the sender is in one (Snap); name a "
    + "destination that the user's files declare"
  #expect(fixture.answers == [refusal, refusal, "next"])
  #expect(fixture.carriedOut == ["next"] && fixture.lookedUp == [])
}

@Test(
  "L3: a client that cannot be looked up is refused, and looked up again at its next request",
  arguments: [
    (DBusError(name: .nameHasNoOwner, message: "x"), "it has left the bus"),
    (DBusError(name: .timedOut, message: "no answer within 25 seconds"), "no answer within 25 seconds"),
    (nil, "the bus does not name its process"),
  ] as [(DBusError?, String)])
func authorization_unknownClient_isRefusedAndLookedUpAgain(error: DBusError?, reason: String) throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("a")
  try fixture.answer(error.map { .failure($0) } ?? .success([:]))
  #expect(fixture.answers == [refusal + "navd cannot find out whether the sender is in one: \(reason)"])
  try fixture.ask("b")
  try fixture.answer(.success(unconfined))
  #expect(fixture.carriedOut == ["b"])
}

@Test("While a client is looked up, its later requests wait in their order, and those of other clients do not")
func authorization_lateAnswer_holdsTheClientsLaterRequests() throws {
  let fixture = try AuthorizationFixture()
  let other = try fixture.bus.connect()
  try fixture.ask("a")
  try fixture.ask("b", privileged: false)
  try fixture.ask("c")
  try fixture.ask("other", privileged: false, by: other)
  #expect(fixture.carriedOut == ["other"])
  #expect(fixture.lookedUp == [fixture.client.uniqueName])
  try fixture.answer(.success(unconfined))
  #expect(fixture.carriedOut == ["other", "a", "b", "c"])
  #expect(fixture.bus.connection.isNobodyWaiting)
}

@Test("L1: requests that wait for the look-up are limited together")
func authorization_tooManyRequestsWhileLookedUp_areRefused() throws {
  var limits = Connection.Limits()
  limits.waitingBytes = 4000
  let fixture = try AuthorizationFixture(limits: limits)
  try fixture.ask("a")
  try fixture.ask(String(repeating: "b", count: 1000), privileged: false)
  #expect(fixture.answers == [])
  try fixture.ask(String(repeating: "c", count: 1000), privileged: false)
  #expect(
    fixture.answers == [
      "org.freedesktop.DBus.Error.LimitsExceeded: expected earlier calls to be answered; wait for the answers, then call again"
    ])
  try fixture.answer(.success(unconfined))
  #expect(fixture.carriedOut.map { $0.prefix(1) } == ["a", "b"])
}

@Test func authorization_clientLeavesBeforeTheAnswer_keepsNothing() throws {
  let fixture = try AuthorizationFixture()
  try fixture.ask("a")
  try fixture.bus.close(fixture.client)
  try fixture.answer(.failure(DBusError(name: .nameHasNoOwner, message: "x")))
  #expect(fixture.carriedOut == [])
  #expect(fixture.bus.connection.isNobodyWaiting)
}

// MARK: Privileges

private func present(_ change: (inout ItemOptions) -> Void) throws -> Request {
  Request(.present(try BindingID("panel"), id: "", .with(change)))
}

extension ItemOptions {
  fileprivate static func with(_ change: (inout ItemOptions) -> Void) -> ItemOptions {
    var options = ItemOptions()
    change(&options)
    return options
  }
}

@Test("L3: commands, directories and environments need the privilege, and nothing else")
func authorization_privilege_isNeededToRunPrograms() throws {
  let authorization = try #require(try AuthorizationFixture().authorization)
  func subject(_ requests: Request...) throws -> String? { try authorization.privilege(for: requests)?.subject }
  let command = try present { $0.command = InlineCommand(arguments: [Array("true".utf8)]) }
  let directory = try present { $0.directory = "/" }
  let environment = try present { $0.environment = [:] }
  let plain = try present {
    $0.destination = "volume"
    $0.value = ["command": .string("x")]
  }
  #expect(try subject(command) == "option “command”")
  #expect(try subject(directory) == "option “directory”")
  #expect(try subject(environment) == "option “environment”")
  #expect(try subject(plain, Request(.dismissAll(.everything))) == nil)
  // The rules decide about a toggle, since it may end the item.
  let given = ItemOptions.with { $0.directory = "/" }
  #expect(try subject(Request(.toggle(try BindingID("panel"), id: "", given, anyID: true))) == nil)
  // An element of a path is named with its number, and a request of a transaction with its index.
  let elements = [
    RequestedElement(binding: nil, id: "0"),
    RequestedElement(binding: nil, id: "1", options: .with { $0.directory = "/" }),
  ]
  #expect(
    try subject(Request(.setPath(try BindingID("stack"), elements))) == "element 1: option “directory”")
  let first = try authorization.privilege(for: [plain, directory, command], inTransaction: true)
  #expect(first?.subject == "option “directory”")
  #expect(first?.index == 1)
}

@Test("L3: inline-commands refuses commands to every client, and nothing else")
func authorization_inlineCommandsSwitchedOff_refusesCommands() throws {
  let authorization = try #require(try AuthorizationFixture().authorization)
  func refusal(_ requests: Request...) -> Refusal? {
    do throws(Refusal) {
      _ = try authorization.privilege(for: requests, inTransaction: true)
      return nil
    } catch {
      return error
    }
  }
  let command = try present { $0.command = InlineCommand(arguments: [Array("true".utf8)]) }
  let plain = try present { $0.destination = "volume" }
  #expect(refusal(plain, command) == nil)
  authorization.inlineCommands = .switchedOff(file: "/c/navd.toml")
  let switchedOff = try #require(refusal(plain, command))
  #expect(switchedOff.code == .accessDenied)
  #expect(switchedOff.index == 1)
  #expect(
    switchedOff.message
      == "commands in requests are switched off by inline-commands in /c/navd.toml; name a destination instead")
  #expect(refusal(plain) == nil)
  authorization.inlineCommands = .undecided(file: "/c/navd.toml")
  #expect(
    refusal(command)?.message
      == "commands in requests are refused, since /c/navd.toml has a mistake; “navctl check-config” shows it")
}
