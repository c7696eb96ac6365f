import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Whether requests may contain commands.
enum InlineCommands: Hashable, Sendable {
  case allowed
  case switchedOff(file: String)
  /// The setting cannot be read, because its file has a mistake.
  case undecided(file: String)

  /// The answer to a request with a command; nil if commands are allowed.
  var refusal: Refusal? {
    switch self {
    case .allowed: nil
    case .switchedOff(let file):
      Refusal(
        .accessDenied, "commands in requests are switched off by inline-commands in \(file); name a destination instead"
      )
    case .undecided(let file):
      Refusal(
        .accessDenied,
        "commands in requests are refused, since \(file) has a mistake; “navctl check-config” shows it")
    }
  }

  /// Refuses requests with a command if commands are not allowed.
  /// - Throws: `Refusal` with the code `accessDenied`, for the first request with a command.
  func check(_ requests: [Request], inTransaction: Bool) throws(Refusal) {
    if let refusal { try requests.refuseCommands(with: refusal, inTransaction: inTransaction) }
  }
}

/// Authorizes clients to run programs their own way and to register presenters, which a client in a sandbox may not (L3). Other
/// requests are open to every client, unless they would change a program that another client has run its own way.
final class Authorization {
  /// Something that only a client outside of any sandbox may ask for.
  struct Privilege {
    /// The part of the request that needs the privilege; a refusal begins with it.
    let subject: String
    /// The request's index in a transaction.
    var index: Int?
    /// Advice for a client in a sandbox; its refusal ends with it.
    var advice = Self.namingDestinations

    fileprivate func refusal(_ why: String) -> Refusal {
      var refusal = Refusal(.accessDenied, "\(subject): \(why)")
      refusal.index = index
      return refusal
    }

    static let namingDestinations = "; name a destination that the user's files declare"

    fileprivate init(subject: String, index: Int? = nil, advice: String = Self.namingDestinations) {
      (self.subject, self.index, self.advice) = (subject, index, advice)
    }

    init(_ privilege: ServicePrivilege) {
      switch privilege {
      case .holding: self.init(subject: "holds", advice: "")
      case .registeringPresenters: self.init(subject: "RegisterPresenter")
      case .importingEnvironment: self.init(subject: "ImportEnvironment", advice: "")
      }
    }
  }

  typealias CredentialsLookup = (BusName, @escaping (Result<Credentials, DBusError>) -> Void) -> Void

  private enum Verdict {
    case unconfined
    case sandboxed(Sandbox)
    case unknown(String)

    var trust: Trust { if case .unconfined = self { .trusted } else { .confined } }

    /// The reason for refusing the client; nil if it has the privilege.
    func refusal(advice: String) -> String? {
      switch self {
      case .unconfined: nil
      case .sandboxed(let sandbox):
        "not available to programs in a sandbox, and the sender is in one (\(sandbox.rawValue))\(advice)"
      case .unknown(let why):
        "not available to programs in a sandbox, and navd cannot find out whether the sender is in one: \(why)"
      }
    }
  }

  /// The limit of kept verdicts. The bus is asked once about each client, unless there are more clients.
  private static let maxVerdicts = 512

  var inlineCommands = InlineCommands.allowed
  private let connection: Connection
  private let lookUp: CredentialsLookup
  private var verdicts: [Client: Verdict] = [:]
  /// The processes of the clients in `verdicts`.
  private var processes: [Client: UInt32] = [:]

  /// - Parameter lookUp: finds the credentials of a client; nil asks the bus.
  init(_ connection: Connection, lookUp: CredentialsLookup? = nil) {
    self.connection = connection
    self.lookUp = lookUp ?? { [unowned connection] in connection.credentials(of: $0, $1) }
  }

  /// The privilege that some requests need; nil for most. A toggle that ends something needs none; the rules refuse any other
  /// toggle with `Refusal.needsTrust`.
  /// - Throws: `Refusal` with the code `accessDenied` if commands in requests are switched off.
  func privilege(for requests: [Request], inTransaction: Bool = false) throws(Refusal) -> Privilege? {
    try inlineCommands.check(requests, inTransaction: inTransaction)
    for index in requests.indices
    where !requests[index].operation.isToggle
      && requests[index].operation.presents(where: { $0.optionAboutRunning != nil })
    {
      let items = requests[index].operation.items
      for (element, options) in items.enumerated() {
        guard let option = options.optionAboutRunning else { continue }
        let prefix = items.count > 1 ? "element \(element): " : ""
        return Privilege(subject: "\(prefix)option “\(option)”", index: inTransaction ? index : nil)
      }
    }
    return nil
  }

  /// Answers a call with the result of `body` once the caller is known to have the privilege. Without a privilege the answer
  /// comes at once, unless `body` refuses with `Refusal.needsTrust`. Meanwhile later calls of the same caller wait; other
  /// clients' calls do not.
  func authorize<Output>(
    _ privilege: Privilege?, _ call: some ServiceCall<Output>, _ body: @escaping (Trust) throws(Refusal) -> Output?
  ) {
    if privilege == nil {
      do throws(Refusal) {
        if let output = try body(verdicts[call.client]?.trust ?? .unknown) { call.reply(output) }
        return
      } catch {
        guard error.needsTrust else { return call.fail(error) }
      }
    }
    judge(call.client) { verdict in
      answer(call) { () throws(Refusal) in
        if let privilege, let why = verdict.refusal(advice: privilege.advice) { throw privilege.refusal(why) }
        do throws(Refusal) {
          return try body(verdict.trust)
        } catch {
          guard error.needsTrust, let why = verdict.refusal(advice: Privilege.namingDestinations) else { throw error }
          throw Privilege(subject: error.message, index: error.index).refusal(why)
        }
      }
    }
  }

  /// The process of a client, as far as the bus was asked; nil if it was not.
  func process(of client: Client) -> UInt32? { processes[client] }

  private func judge(_ client: Client, _ completion: @escaping (Verdict) -> Void) {
    if let verdict = verdicts[client] { return completion(verdict) }
    guard let name = BusName(client.name) else { preconditionFailure("\(client) called without a bus name") }
    connection.suspend(name)
    lookUp(name) { [self] result in
      let verdict = verdict(result)
      // The next attempt of an unknown client may succeed.
      if case .unknown = verdict {
      } else {
        if verdicts.count >= Self.maxVerdicts {
          verdicts.removeAll(keepingCapacity: true)
          processes.removeAll(keepingCapacity: true)
        }
        verdicts[client] = verdict
        processes[client] = (try? result.get())?.processID
      }
      completion(verdict)
      connection.resume(name)
    }
  }

  private func verdict(_ result: Result<Credentials, DBusError>) -> Verdict {
    switch result {
    case .success(let credentials):
      do throws(Sandbox.Unknown) {
        return try Sandbox(of: credentials).map { .sandboxed($0) } ?? .unconfined
      } catch {
        return .unknown(error.why)
      }
    case .failure(let error) where error.name == .nameHasNoOwner:
      return .unknown("it has left the bus")
    case .failure(let error):
      return .unknown(error.message)
    }
  }
}
