// Why this file exists: whoever waits for a presentation waits through restarts of navd, and is told its end once.

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// How a presentation ended, or that it is presented.
struct Ending: Equatable {
  /// Empty where it is presented.
  let reason: String
  let result: Properties

  init(reason: String, result: Properties) {
    self.reason = reason
    self.result = result
  }

  /// Waits until the presentation has come so far.
  ///
  /// Rule R5: while navd restarts the question has no answer, and is asked again of the next owner of its name. navd is
  /// not started for it: it may be the session that ends.
  /// - Parameter wasThere: whether navd has answered something before, so that it can only be restarting.
  init(
    _ daemon: Daemon, _ presentation: ObjectPath, phase: String = "gone", wasThere: Bool = true
  ) throws(Failure) {
    var outcome: Result<Ending, DBusError>?
    func finish(_ result: Result<Ending, DBusError>) {
      outcome = outcome ?? result
      daemon.loop.stop()
    }
    var wasThere = wasThere
    let watch = daemon.connection.watchName(CoordinatorNames.bus) { owner in
      guard owner != nil else {
        // At first the name must have an owner, later there will be one again.
        if !wasThere { finish(.failure(DBusError(name: .nameHasNoOwner, message: ""))) }
        return
      }
      wasThere = true
      daemon.connection.call(
        CoordinatorInterface.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (presentation, phase),
        timeout: nil, autoStart: false
      ) { result in
        switch result {
        case .success(let (reason, result)): finish(.success(Ending(reason: reason, result: result)))
        case .failure(let error) where !Self.isRestart(error): finish(.failure(error))
        case .failure: break
        }
      }
    }
    defer { watch.cancel() }
    daemon.connection.onDisconnected = {
      finish(.failure(DBusError(name: .disconnected, message: "the bus is gone")))
    }
    if let rest = daemon.rest {
      _ = daemon.loop.timer(after: rest) { finish(.failure(DBusError(name: .timedOut, message: ""))) }
    }
    if outcome == nil { daemon.loop.run() }
    switch outcome {
    case .success(let ending)?: self = ending
    case .failure(let error)? where error.name == .timedOut:
      throw Failure(
        daemon.what, "not \(phase) in time", next: "“navctl wait --presentation \(presentation.shortName)” waits on",
        status: .timedOut)
    case .failure(let error)?: throw Failure(daemon.what, error)
    case nil: throw Failure(daemon.what, "interrupted")
    }
  }

  /// Whether the one who was asked is only going, and the next one can be asked.
  private static func isRestart(_ error: DBusError) -> Bool {
    error.name == .noReply || error.name == .nameHasNoOwner || error.name == .serviceUnknown
      || CoordinatorError.Name(error.name) == .shuttingDown
  }
}

// MARK: Telling it

extension Ending {
  private static let known = ["status", "signal", "output", "output-truncated", "error"]

  /// One value, a member absent where there is none.
  var json: JSON {
    var members = result.filter { Self.known.contains($0.key) }.mapValues { JSON($0) }
    members["reason"] = .string(reason)
    let more = result.filter { !Self.known.contains($0.key) }
    if !more.isEmpty { members["result"] = JSON(more) }
    return .object(members)
  }

  private var output: [UInt8] {
    guard case .bytes(let output)? = result["output"] else { return [] }
    return output
  }

  /// Why it failed, where that is known.
  var error: String? { text("error") }

  private func text(_ name: String) -> String? { result[name].flatMap { String(value: $0) } }

  /// The command's own exit status, 128+n for a signal; nil where neither is known.
  var propagated: Int32? {
    if let status = result["status"]?.integer { return Int32(truncatingIfNeeded: status) & 0xFF }
    return text("signal").flatMap(Self.number(ofSignal:)).map { 128 + $0 }
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

  /// Writes what was handed back, and ends navctl with what it means.
  func report(_ daemon: Daemon, _ global: GlobalOptions, propagating: Bool = false) throws {
    if global.json {
      global.write(json: json, plain: "")
    } else if !global.quiet {
      StandardOutput.write(output)
      if result["output-truncated"] == .boolean(true) {
        StandardError.write("navctl: \(daemon.what): the output is cut: it was longer than navd keeps")
      }
    }
    if propagating {
      guard let status = propagated else {
        throw Failure(
          daemon.what,
          "it is \(reason), and how its command ended is not known" + (error.map { ": \($0)" } ?? ""),
          status: .ownFailure)
      }
      if status != 0 { throw ExitCode(status) }
    } else if reason == "failed" {
      throw Failure(daemon.what, error ?? "it could not be shown, or its presenter crashed")
    }
  }
}
