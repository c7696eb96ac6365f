import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import TextFormats

/// The reply of the method `Wait`: how a presentation ended, or that it is presented.
struct WaitOutcome: Equatable {
  /// The reason of the end; empty if it has not ended.
  let reason: String
  /// The result of the presentation's program, or of its presenter on the bus.
  let result: PresentationResult

  var hasFailed: Bool { reason == Reason.failed.rawValue }

  /// The reason why a question has ended without an answer; nil if it has ended by itself. A replaced question has a successor,
  /// usually from the same script.
  var whyUnanswered: String? {
    guard let reason = Reason(rawValue: reason) else { return nil }
    return switch reason {
    case .closed, .replaced, .failed: nil
    case .dismissed: "it was dismissed"
    case .deselected: "its group has another member open, or none"
    case .popped: "its stack was cut at it, or below it"
    case .parent: "what it was opened from has closed"
    case .expired: "its time was over"
    case .owner: "its owner has left"
    case .lost: "it ended while navd was not running"
    case .shutdown: "navd was told to quit"
    case .declined: "what is open in its place stays"
    case .unfocused: "its window has lost the focus"
    case .held: "a hold has begun that closes it"
    case .outputGone: "its screen was unplugged"
    }
  }

  /// The reason of a failure shortly after the start; nil if it did not fail. An item that was closed on request, or by its
  /// user, has not failed.
  var failureAtStart: String? {
    if hasFailed { return result.error.map(ErrorOutput.part) ?? "it could not be opened, or its program crashed" }
    guard reason == Reason.closed.rawValue, result.windowSeen != true, let status = result.status, status != 0 else {
      return nil
    }
    return "its program ended at once with status \(status)"
      + (result.error.map { ": \(ErrorOutput.part($0))" } ?? "")
  }

  /// The outcome as one JSON object: known members of a command's result by name, all others in `result`.
  var json: JSON {
    let keys = PresentationResult.keys
    let names = [
      keys.status.name, keys.signal.name, keys.output.name, keys.outputTruncated.name, keys.stopped.name,
      keys.kept.name, keys.error.name, keys.statusKnown.name, keys.declined.name, keys.windowSeen.name,
    ]
    var members = result.properties.filter { names.contains($0.key) }
    members[EndingEntry.keys.reason] = reason
    let others = result.properties.filter { !names.contains($0.key) }
    if !others.isEmpty { members["result"] = .properties(others) }
    return JSON(members)
  }

  /// The command's exit status, or 128+n for a signal; nil if neither is known.
  var exitStatus: Int32? {
    // Presenters on the bus may send an integer of any width.
    if let status = result.properties[PresentationResult.keys.status.name]?.integer {
      return Int32(truncatingIfNeeded: status) & 0xFF
    }
    return result.signal.flatMap(Self.number(ofSignal:)).map { 128 + $0 }
  }

  static func number(ofSignal name: String) -> Int32? {
    let names: [String: Int32] = [
      "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "ILL": SIGILL, "TRAP": SIGTRAP, "ABRT": SIGABRT, "BUS": SIGBUS,
      "FPE": SIGFPE, "KILL": SIGKILL, "USR1": SIGUSR1, "SEGV": SIGSEGV, "USR2": SIGUSR2, "PIPE": SIGPIPE,
      "ALRM": SIGALRM, "TERM": SIGTERM, "STKFLT": SIGSTKFLT, "CHLD": SIGCHLD, "CONT": SIGCONT, "STOP": SIGSTOP,
      "TSTP": SIGTSTP, "TTIN": SIGTTIN, "TTOU": SIGTTOU, "URG": SIGURG, "XCPU": SIGXCPU, "XFSZ": SIGXFSZ,
      "VTALRM": SIGVTALRM, "PROF": SIGPROF, "WINCH": SIGWINCH, "IO": SIGIO, "POLL": SIGIO, "PWR": SIGPWR, "SYS": SIGSYS,
    ]
    return names[name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name] ?? Int32(name)
  }
}
