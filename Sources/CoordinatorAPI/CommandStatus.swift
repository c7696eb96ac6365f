// Why this file exists: scripts branch on navctl's exit codes, so they are part of the contract.

import DBusValues
import PresentationModel

/// What navctl's exit status means.
public enum CommandStatus: Int32, CaseIterable, Sendable {
  /// Done, already so, or yes.
  case ok = 0
  case failed = 1
  /// Wrong usage, binding or argument.
  case usage = 2
  /// Nothing is presented there, or no.
  case notPresented = 3
  case unknownName = 4
  case timedOut = 5
  /// The request was understood and refused: busy, stale, past a limit, not allowed.
  case refused = 6
  /// The daemon, or the bus, cannot be reached.
  case unreachable = 8
  /// navctl's own failures under `--propagate`, where every other status is the command's.
  case ownFailure = 125

  /// What it means, in the words of all documents; code stands between backticks.
  public var doc: String {
    switch self {
    case .ok: "done, already so, or yes"
    case .failed: "failed: the presentation, a configuration file, or navctl"
    case .usage: "wrong usage, binding or argument"
    case .notPresented: "nothing is presented there, or no"
    case .unknownName: "there is no such destination, tag, presentation or container value"
    case .timedOut: "not in the time that `-w` gave"
    case .refused: "refused: busy, stale, past a limit, already in a stack, not allowed"
    case .unreachable: "navd, or the bus, cannot be reached"
    case .ownFailure: "with `--propagate`: navctl's own failures; every other status is the command's"
    }
  }

  /// The code for an error that a call brought back.
  public init(_ error: ErrorName) {
    if let name = CoordinatorError.Name(error) {
      self =
        switch name {
        case .invalidBinding, .invalidArgument, .containerValueType: .usage
        case .notPresented: .notPresented
        case .unknownDestination, .unknownTag, .unknownPresentation, .unknownContainerValue: .unknownName
        case .stale, .busy, .alreadyInStack, .limitExceeded, .accessDenied: .refused
        case .invalidConfiguration, .notRecorded: .failed
        case .shuttingDown: .unreachable
        }
      return
    }
    let prefix = "org.freedesktop.DBus.Error."
    guard error.text.hasPrefix(prefix) else {
      self = .failed
      return
    }
    self =
      switch error.text.dropFirst(prefix.count) {
      case "Timeout", "TimedOut": .timedOut
      // The bus says NoReply where the one who was asked has left.
      case "NoReply", "ServiceUnknown", "NameHasNoOwner", "NoServer", "Disconnected", "NoNetwork", "AuthFailed",
        "FileNotFound",
        "BadAddress":
        .unreachable
      case let rest where rest.hasPrefix("Spawn."): .unreachable
      case "AccessDenied", "LimitsExceeded": .refused
      case "InvalidArgs", "InvalidSignature": .usage
      default: .failed
      }
  }
}
