import CoordinatorAPI
import DBusValues
import Glibc
import TextFormats

/// Reply of the method `Wait`: how a presentation ended, or that it is presented.
struct WaitOutcome: Equatable {
  /// Empty if it is presented.
  let reason: String
  /// Result of its program, or of its presenter on the bus.
  let result: Properties

  var hasFailed: Bool { reason == PresentationReason.failed }

  /// Why it failed, if that is known.
  var error: String? { text("error") }

  /// One JSON object: members of a command's result by name, all others in `result`.
  var json: JSON {
    let names = ["status", "signal", "output", "output-truncated", "error"]
    var members = result.filter { names.contains($0.key) }.mapValues { JSON($0) }
    members["reason"] = .string(reason)
    let others = result.filter { !names.contains($0.key) }
    if !others.isEmpty { members["result"] = JSON(others) }
    return .object(members)
  }

  /// The command's exit status, 128+n for a signal; nil if neither is known.
  var exitStatus: Int32? {
    if let status = result["status"]?.integer { return Int32(truncatingIfNeeded: status) & 0xFF }
    return text("signal").flatMap(Self.number(ofSignal:)).map { 128 + $0 }
  }

  /// What the command wrote to standard output.
  var output: [UInt8] {
    guard case .bytes(let output)? = result["output"] else { return [] }
    return output
  }

  var isOutputTruncated: Bool { result["output-truncated"] == .boolean(true) }

  private func text(_ name: String) -> String? { result[name].flatMap { String(value: $0) } }

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
