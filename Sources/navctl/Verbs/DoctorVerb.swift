import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TextFormats

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "doctor", "Look at everything from which trouble comes, and say what to do.",
    """
    Each line says “ok”, or “!!” with the problem and its remedy. The exit status is 1 if there is such a line.
    """)

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let findings = try examine()
    var table = Table("STATE", "SUBJECT", "FINDING")
    for finding in findings {
      table.add(
        finding.advice == nil ? "ok" : Table.Cell("!!", .bad), Table.Cell(finding.subject),
        Table.Cell(finding.text + (finding.advice.map { "; \($0)" } ?? "")))
    }
    global.write(json: .array(findings.map(\.json)), styled: table.text(global.tableStyle.unlimited))
    if findings.contains(where: { $0.advice != nil }) { throw ExitCode(CommandStatus.failed.rawValue) }
  }

  private func examine() throws -> [Finding] {
    let daemon: DaemonClient
    do throws(Failure) {
      daemon = try DaemonClient(global, "doctor")
    } catch {
      return [Finding("bus", error.why, error.hint ?? Failure.unreachableBus)]
    }
    let bus = global.host.map { "that of \($0)" } ?? global.address ?? (try? Connection.sessionAddress()) ?? ""
    var findings = [Finding("bus", bus)]
    let examined: Examined
    do throws(Failure) {
      examined = try Examined(daemon)
    } catch {
      findings.append(Finding("navd", error.why, error.hint ?? "read its log: journalctl --user -u navd"))
      return findings + Self.variables(daemon)
    }
    return findings + examined.findings + Self.variables(daemon)
  }

  /// Variables of the desktop that programs miss which the service manager or the bus starts.
  private static func variables(_ daemon: DaemonClient) -> [Finding] {
    // The environment of another machine's session cannot be seen from here.
    guard !daemon.isRemote,
      let answer = try? daemon.connection.callAndWait(
        PropertyAccessing.get, on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1",
        ("org.freedesktop.systemd1.Manager", "Environment"), timeout: daemon.timeLeft ?? .seconds(3), autoStart: false),
      let known = [String](value: answer)
    else { return [] }
    let wrong = desktopVariables.filter { name in
      guard let value = getenv(name) else { return false }
      return !known.contains("\(name)=\(String(cString: value))")
    }
    if wrong.isEmpty { return [Finding("variables", "the user manager has those of this desktop")] }
    let names = wrong.joined(separator: " ")
    return [
      Finding(
        "variables", "the user manager has another value, or none, of \(wrong.joined(separator: ", "))",
        "when the desktop starts: dbus-update-activation-environment --systemd \(names)")
    ]
  }

  private static let desktopVariables = [
    "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "SWAYSOCK", "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
  ]
}

/// A line of the doctor's.
private struct Finding {
  let subject: String
  let text: String
  /// What to do; nil if all is well.
  let advice: String?

  init(_ subject: String, _ text: String, _ advice: String? = nil) {
    self.subject = subject
    self.text = text
    self.advice = advice
  }

  var json: JSON {
    var members: [String: JSON] = ["subject": .string(subject), "ok": .boolean(advice == nil), "text": .string(text)]
    members["advice"] = advice.map { .string($0) }
    return .object(members)
  }
}

/// What navd says about itself.
private struct Examined {
  private let release: String
  private let diagnosis: Diagnosis
  private let destinations: Int
  private let failures: [EndingEntry]

  init(_ daemon: DaemonClient) throws(Failure) {
    release = try daemon.value(of: CoordinatorInterface.release) ?? ""
    diagnosis = try daemon.diagnosis()
    destinations = try daemon.destinations().count
    failures = try daemon.history(0, [:]).filter(\.hasFailed)
  }

  var findings: [Finding] { [navd, commands, record] + files + programs + [ofFailures] }

  private var navd: Finding {
    var parts = ["navd \(release)"]
    if let pid = diagnosis.pid { parts.append("process \(pid)") }
    if let since = diagnosis.since { parts.append("since \(WallClock.local(since))") }
    if let program = diagnosis.startedBy { parts.append("started by \(program)") }
    return Finding(
      "navd", parts.joined(separator: ", "),
      release == Release.version ? nil : "navctl is \(Release.version): restart navd, or install both anew")
  }

  private var commands: Finding {
    let text = diagnosis.commands ?? "not known"
    return Finding(
      "commands", text,
      text.contains("cannot be started") ? "start the user manager, or navd outside its unit" : nil)
  }

  private var record: Finding {
    let directory = diagnosis.record ?? "not known"
    if let error = diagnosis.recordError {
      return Finding("record", "\(directory): \(error)", "make room or mend the device; navd tries again by itself")
    }
    if let aside = diagnosis.setAside {
      return Finding(
        "record", "navd started empty: \(aside)", "keep the file for a report of the error, then remove it")
    }
    return Finding("record", "\(directory), complete")
  }

  private var files: [Finding] {
    let mistakes = diagnosis.mistakes ?? []
    if mistakes.isEmpty {
      let places = (diagnosis.directories ?? []).joined(separator: ", ")
      return [
        Finding(
          "files", "\(destinations) destination\(destinations == 1 ? "" : "s"), no mistakes; looked for in \(places)")
      ]
    }
    return mistakes.map { Finding("files", $0, "correct the file; navd reads it when it is written") }
  }

  private var programs: [Finding] {
    let warnings = diagnosis.warnings ?? []
    if warnings.isEmpty { return [Finding("programs", "those of all destinations are found")] }
    return warnings.map { Finding("programs", $0, "install the program, or correct the file") }
  }

  private var ofFailures: Finding {
    guard let last = failures.first else { return Finding("failures", "none") }
    let error = last.error.map { ": \($0)" } ?? ""
    let time = last.time.map { " at \(WallClock.local($0))" } ?? ""
    return Finding(
      "failures",
      "\(failures.count), the last one of \(last.text(\.binding))\(time)\(error)",
      "see navctl history --reason failed")
  }
}
