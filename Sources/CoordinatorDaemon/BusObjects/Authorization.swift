// Why this file exists: whoever may talk to navd may have shown whatever the user's files know; but to say what is run,
// and how, is not for everybody (L3).

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Whether requests may come with commands.
enum InlineCommands: Hashable, Sendable {
  case allowed
  case switchedOff(file: String)
  /// Nobody can tell, since the file that would say so has a mistake.
  case undecided(file: String)

  /// Why there are none; nil where there are.
  var refusal: Refusal? {
    switch self {
    case .allowed: nil
    case .switchedOff(let file):
      Refusal(
        .accessDenied,
        "commands that come with requests are switched off by inline-commands in \(file); a destination would do")
    case .undecided(let file):
      Refusal(
        .accessDenied,
        "whether commands may come with requests stands in \(file), which has a mistake; “navctl check-config” names it"
      )
    }
  }
}

/// Lets those ask for programs to be run as they say, and for what others present, who may.
final class Authorization {
  /// Something for which not everybody may ask.
  struct Demand {
    /// As a refusal begins.
    fileprivate let what: String
    /// The place of the request in a transaction.
    fileprivate var index: Int?

    fileprivate func refusal(_ why: String) -> Refusal {
      var refusal = Refusal(.accessDenied, "\(what): \(why)")
      refusal.index = index
      return refusal
    }

    static let presenting = Demand(what: "RegisterPresenter", index: nil)
  }

  private enum Verdict {
    case free
    case confined(Sandbox)
    case unknown(String)
  }

  /// How many clients are remembered; each is asked about once, unless there are more.
  private static let most = 512

  var inlineCommands = InlineCommands.allowed
  private let connection: Connection
  private var verdicts: [BusName: Verdict] = [:]

  init(_ connection: Connection) { self.connection = connection }

  /// What some requests ask for that not everybody may; nil for nearly all.
  /// - Throws: `Refusal` with the code `accessDenied`, where nobody may.
  func demand(of requests: [Request], inTransaction: Bool = false) throws(Refusal) -> Demand? {
    var first: Demand?
    for (index, request) in requests.enumerated() {
      let items = request.operation.items
      for (element, options) in items.enumerated() {
        guard let option = options.optionAboutRunning else { continue }
        if options.command != nil, var refusal = inlineCommands.refusal {
          refusal.index = inTransaction ? index : nil
          throw refusal
        }
        let prefix = items.count > 1 ? "element \(element): " : ""
        first = first ?? Demand(what: "\(prefix)option “\(option)”", index: inTransaction ? index : nil)
      }
    }
    return first
  }

  /// Answers a call with what `body` gives, once it is known whether its sender may ask for that. Who asks for nothing
  /// special is answered at once; others' later calls wait for it, and nobody else's.
  func admit<Output>(
    _ demand: Demand?, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output
  ) {
    guard let demand else { return answer(call, body) }
    guard let sender = BusName(call.client.name) else {
      preconditionFailure("\(call.client) called without a bus name")
    }
    judge(sender) { verdict in
      answer(call) { () throws(Refusal) in
        switch verdict {
        case .free: return try body()
        case .confined(let sandbox):
          throw demand.refusal(
            "this is not for programs in a sandbox, and its sender is in one (\(sandbox.rawValue)); what the user's "
              + "destination files name would do")
        case .unknown(let why):
          throw demand.refusal(
            "this is not for programs in a sandbox, and whether its sender is in one cannot be told: \(why)")
        }
      }
    }
  }

  private func judge(_ client: BusName, _ completion: @escaping (Verdict) -> Void) {
    if let verdict = verdicts[client] { return completion(verdict) }
    let limit = connection.limits.requestBytes
    let tooMuch = Refusal(
      .limitExceeded,
      "until it is known who their sender is, requests together may be no larger than the limit “request”, \(limit) bytes"
    )
    connection.hold(client, refusing: DBusError(tooMuch))
    connection.credentials(of: client) { [self] result in
      let verdict = verdict(result)
      if case .unknown = verdict {
        // It may have been the bus's fault.
      } else {
        if verdicts.count >= Self.most { verdicts.removeAll(keepingCapacity: true) }
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
        return try Sandbox.around(credentials).map { .confined($0) } ?? .free
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
  /// The first of the options that say how a program is run.
  fileprivate var optionAboutRunning: String? {
    if command != nil { return Options.command.name }
    if directory != nil { return Options.directory.name }
    return environment == nil ? nil : Options.environment.name
  }
}
