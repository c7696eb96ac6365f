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
  /// The setting cannot be read, since its file has a mistake.
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
}

/// Authorizes clients to run programs their own way and to register presenters: privileges that a client in a sandbox
/// does not have (L3). Requests without these are open to every client.
final class Authorization {
  /// Something that only a client outside of any sandbox may ask for.
  struct Privilege {
    /// The part of the request that needs the privilege, at the beginning of a refusal.
    let subject: String
    /// The request's index in a transaction.
    var index: Int?

    fileprivate func refusal(_ why: String) -> Refusal {
      var refusal = Refusal(.accessDenied, "\(subject): \(why)")
      refusal.index = index
      return refusal
    }

    static let registeringPresenters = Privilege(subject: "RegisterPresenter", index: nil)
  }

  typealias CredentialsLookup = (BusName, @escaping (Result<Credentials, DBusError>) -> Void) -> Void

  private enum Verdict {
    case unconfined
    case sandboxed(Sandbox)
    case unknown(String)
  }

  /// Verdicts kept; the bus is asked once about each client, unless there are more clients.
  private static let maxVerdicts = 512

  var inlineCommands = InlineCommands.allowed
  private let connection: Connection
  private let lookUp: CredentialsLookup
  private var verdicts: [BusName: Verdict] = [:]

  /// - Parameter lookUp: finds the credentials of a client; nil asks the bus.
  init(_ connection: Connection, lookUp: CredentialsLookup? = nil) {
    self.connection = connection
    self.lookUp = lookUp ?? { [unowned connection] in connection.credentials(of: $0, $1) }
  }

  /// The privilege that some requests need; nil for most.
  /// - Throws: `Refusal` with the code `accessDenied` if commands in requests are switched off.
  func privilege(for requests: [Request], inTransaction: Bool = false) throws(Refusal) -> Privilege? {
    var first: Privilege?
    for (index, request) in requests.enumerated() {
      let items = request.operation.items
      for (element, options) in items.enumerated() {
        guard let option = options.optionAboutRunning else { continue }
        if options.command != nil, var refusal = inlineCommands.refusal {
          refusal.index = inTransaction ? index : nil
          throw refusal
        }
        let prefix = items.count > 1 ? "element \(element): " : ""
        first = first ?? Privilege(subject: "\(prefix)option “\(option)”", index: inTransaction ? index : nil)
      }
    }
    return first
  }

  /// Answers a call with the result of `body`, as soon as the caller is known to have the privilege; without a
  /// privilege, at once. Meanwhile the caller's later calls wait, and no other client's.
  func authorize<Output>(
    _ privilege: Privilege?, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    guard let privilege else { return answer(call, body) }
    guard let sender = BusName(call.client.name) else {
      preconditionFailure("\(call.client) called without a bus name")
    }
    judge(sender) { verdict in
      answer(call) { () throws(Refusal) in
        switch verdict {
        case .unconfined: return try body()
        case .sandboxed(let sandbox):
          throw privilege.refusal(
            "not available to programs in a sandbox, and the sender is in one (\(sandbox.rawValue)); name a destination "
              + "that the user's files declare")
        case .unknown(let why):
          throw privilege.refusal(
            "not available to programs in a sandbox, and navd cannot find out whether the sender is in one: \(why)")
        }
      }
    }
  }

  private func judge(_ client: BusName, _ completion: @escaping (Verdict) -> Void) {
    if let verdict = verdicts[client] { return completion(verdict) }
    let tooMuch = Refusal(
      .limitExceeded,
      "expected at most \(connection.limits.requestBytes) bytes (the limit “request”) of requests until navd knows whether "
        + "their sender is in a sandbox, found more")
    connection.hold(client, refusing: DBusError(tooMuch))
    lookUp(client) { [self] result in
      let verdict = verdict(result)
      // The next attempt of an unknown client may succeed.
      if case .unknown = verdict {
      } else {
        if verdicts.count >= Self.maxVerdicts { verdicts.removeAll(keepingCapacity: true) }
        verdicts[client] = verdict
      }
      completion(verdict)
      connection.release(client)
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

extension ItemOptions {
  /// The first option that says how a program is run.
  fileprivate var optionAboutRunning: String? {
    if command != nil { return Options.command.name }
    if directory != nil { return Options.directory.name }
    return environment == nil ? nil : Options.environment.name
  }
}
