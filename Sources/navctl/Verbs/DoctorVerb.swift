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
    Each line says “ok”, or “!!” with the problem and its remedy. The exit status is 1 if a line says “!!”. Programs are \
    looked for in the PATH that a command gets if it is asked for from here. If navd is not running, everything else is \
    looked at.
    """)

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let findings = try examine()
    var table = Table("STATE", "SUBJECT", "FINDING")
    for finding in findings {
      table.add(
        finding.advice == nil ? "ok" : Table.Cell("!!", .bad), Table.Cell(finding.subject),
        Table.Cell(Typography.inLocale(finding.text + (finding.advice.map { "; \($0)" } ?? ""))))
    }
    global.write(json: .array(findings.map(\.json)), styled: table.text(global.tableStyle.unlimited))
    if findings.contains(where: { $0.advice != nil }) { throw ExitCode(CommandStatus.failed.rawValue) }
  }

  private func examine() throws -> [Finding] {
    let daemon: DaemonClient
    do throws(Failure) {
      daemon = try DaemonClient(global, "doctor")
    } catch {
      let bus = Finding("bus", error.why, error.hint ?? Failure.unreachableBus)
      return [bus] + (global.host == nil ? Self.files(readFiles()) : [])
    }
    let bus = global.host.map { "that of \($0)" } ?? global.address ?? (try? Connection.sessionAddress()) ?? ""
    var findings = [Finding("bus", bus)]
    // Another machine has other files, and navctl in a sandbox sends no variables.
    let files = daemon.isRemote || ClientContext.isSandboxed ? nil : readFiles()
    do throws(Failure) {
      findings += try Examined(daemon, try? files?.get()).findings
    } catch {
      findings.append(Self.ofNoAnswer(daemon, error))
      if let files { findings += Self.withoutNavd(daemon, files) }
    }
    return findings + Self.variables(daemon)
  }

  /// The finding about a navd that does not answer, which is good if navd is not running and the bus can start it.
  private static func ofNoAnswer(_ daemon: DaemonClient, _ failure: Failure) -> Finding {
    func finding(_ failure: Failure) -> Finding {
      Finding("navd", failure.why, failure.hint ?? "read its log: journalctl --user -u navd")
    }
    let notRunning = DBusError(name: .serviceUnknown, message: "")
    guard failure == Failure("doctor", notRunning),
      let startable = try? daemon.connection.callAndWait(
        Bus.listActivatableNames, on: Bus.name, at: Bus.path, (), timeout: daemon.timeLeft ?? .seconds(3))
    else { return finding(failure) }
    if daemon.isGivenUp { return finding(Failure("doctor", DaemonClient.givenUp)) }
    guard startable.contains(CoordinatorNames.bus.text) else {
      return finding(Failure("doctor", notRunning, starts: true))
    }
    return Finding("navd", failure.why + (failure.hint.map { "; \($0)" } ?? ""))
  }

  private func readFiles() -> Result<CheckedFiles, Failure> {
    Result { () throws(Failure) in try CheckedFiles("doctor", address: global.address) }
  }

  /// The findings that need no answer from navd.
  private static func withoutNavd(_ daemon: DaemonClient, _ files: Result<CheckedFiles, Failure>) -> [Finding] {
    let manager = try? daemon.connection.callAndWait(
      PropertyAccessing.get, on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1",
      ("org.freedesktop.systemd1.Manager", "Version"), timeout: daemon.timeLeft ?? .seconds(3), autoStart: false)
    return [
      Finding(
        "commands",
        manager.map { "the bus has a user manager, systemd \(String(value: $0) ?? "")" }
          ?? "the bus has no user manager")
    ] + Self.files(files)
      + Finding.ofWindows(daemon, following: (try? files.get())?.windows.keys.sorted() ?? []) + [
        Finding("log", "the messages of a navd that the bus or systemd started: journalctl --user -u navd")
      ]
  }

  /// The mistakes in the configuration files, and the warnings about them.
  private static func files(_ files: Result<CheckedFiles, Failure>) -> [Finding] {
    do throws(Failure) {
      let files = try files.get()
      return Finding.ofFiles(files.mistakes, count: files.destinations.count, directories: files.directories)
        + Finding.ofWarnings(files.warnings)
    } catch {
      return [Finding("files", error.why, error.hint)]
    }
  }

  /// The findings about the desktop's variables that programs started by the service manager or the bus lack.
  private static func variables(_ daemon: DaemonClient) -> [Finding] {
    // The environment of another machine's session cannot be seen from here.
    guard !daemon.isRemote,
      let answer = try? daemon.connection.callAndWait(
        PropertyAccessing.get, on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1",
        ("org.freedesktop.systemd1.Manager", "Environment"), timeout: daemon.timeLeft ?? .seconds(3), autoStart: false),
      let known = [String](value: answer)
    else { return [] }
    var here: [(name: String, value: String)] = []
    for name in desktopVariables {
      if let value = getenv(name) { here.append((name, String(cString: value))) }
    }
    // A shell that logged in on a console has the type “tty”, even if a desktop was started from there.
    here.removeAll { $0.name == "XDG_SESSION_TYPE" && !["wayland", "x11"].contains($0.value) }
    if here.isEmpty { return [Finding("variables", "this shell has none of a desktop, with which to compare others")] }
    let wrong = here.filter { !known.contains("\($0.name)=\($0.value)") }.map(\.name)
    if wrong.isEmpty { return [Finding("variables", "the user manager has those of this desktop")] }
    let names = wrong.joined(separator: " ")
    return [
      Finding(
        "variables", "the user manager has another value, or none, of \(wrong.joined(separator: ", "))",
        "when the desktop starts: dbus-update-activation-environment --systemd \(names)")
    ]
  }

  private static let desktopVariables = [
    "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "SWAYSOCK", "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
  ]
}

/// A line of the doctor's report.
private struct Finding {
  let subject: String
  let text: String
  /// The advice to the user; nil if all is well.
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

  /// The findings about adapters, one for each display.
  /// - Parameter following: the destinations that follow windows.
  static func ofWindows(_ daemon: DaemonClient, following: [String]) -> [Finding] {
    let adapters = daemon.windowAdapters()
    if adapters.isEmpty {
      if following.isEmpty { return [Finding("windows", "no adapter is running, and no destination follows windows")] }
      return [
        Finding(
          "windows",
          "no adapter is running, so windows of \(following.joined(separator: ", ")) are not followed, raised or hidden: an item is "
            + "open while its program runs",
          daemon.windowAdapterAdvice())
      ]
    }
    let silent = adapters.silence.map { Finding("windows", $0, [WindowAdapter].adviceOnSilence) }
    return adapters.compactMap { adapter in
      let display = adapters.count > 1 ? adapter.display.preferred : nil
      return adapter.backend.map {
        of(adapter, (display.map { "those of \($0): " } ?? "") + "known by the backend “\($0)”")
      }
    } + [silent].compactMap(\.self)
  }

  /// The finding about an adapter. If a compositor has a socket of its own, the socket reports more than its Wayland protocol.
  /// - Parameter known: how the windows are known, in words.
  private static func of(_ adapter: WindowAdapter, _ known: String) -> Finding {
    let sockets = ["HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET"]
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    // The socket of this display says nothing about another one.
    let here = DisplayNames(wayland: variable("WAYLAND_DISPLAY"), x11: variable("DISPLAY"))
    // These backends know many compositors.
    guard ["wlr", "x11"].contains(adapter.backend), !here.isOther(than: adapter.display) else {
      return Finding("windows", known)
    }
    guard adapter.backend == "wlr", let socket = sockets.first(where: { variable($0)?.isEmpty == false }) else {
      return Finding("windows", known + (Compositor.name(variable).map { " on \($0)" } ?? ""))
    }
    return Finding(
      "windows", "\(known), which tells no processes, though \(socket) is set here",
      "dbus-update-activation-environment --systemd \(socket), then start navd-windows again")
  }

  static func ofFiles(_ mistakes: [String], count: Int, directories: [String]) -> [Finding] {
    guard mistakes.isEmpty else {
      return mistakes.map { Finding("files", $0, "correct the file; navd reads it when it is written") }
    }
    let found = "\(count) destination\(count == 1 ? "" : "s"), no mistakes"
    return [Finding("files", "\(found); looked for in \(directories.joined(separator: ", "))")]
  }

  /// The findings about warnings, which navd's `ConfigurationWarnings` makes: one for those about programs, and one for all others.
  static func ofWarnings(_ warnings: [String]) -> [Finding] {
    func isOfProgram(_ warning: String) -> Bool { programFaults.contains { warning.parted(at: $0) != nil } }
    let ofPrograms = warnings.filter(isOfProgram).map {
      Finding("programs", $0, "install the program, or correct the file")
    }
    return warnings.filter { !isOfProgram($0) }.map { Finding("files", $0, "change the file, unless this is meant") }
      + (ofPrograms.isEmpty ? [Finding("programs", "those of all destinations are found")] : ofPrograms)
  }

  /// Parts of the warnings about programs, which are descriptions of `SpawnError`. navd reports a warning only as text.
  private static let programFaults = [
    ": not found in PATH (", ": there is no such program", ": cannot be executed: ",
  ]
}

/// The facts that navd reports about itself.
private struct Examined {
  private let release: String
  private let diagnosis: Diagnosis
  private let destinations: [NamedDestination]
  private let windows: [Finding]
  private let failures: [EndingEntry]
  private let entries: [StateEntry]

  /// The files as read from here; nil if they cannot be read.
  private let checked: CheckedFiles?

  /// - Parameter checked: the files as read from here; nil if they cannot be read.
  init(_ daemon: DaemonClient, _ checked: CheckedFiles?) throws(Failure) {
    release = try daemon.value(of: CoordinatorInterface.release) ?? ""
    diagnosis = try daemon.diagnosis()
    destinations = try daemon.destinations()
    windows = Finding.ofWindows(daemon, following: destinations.filter { $0.entry.window != nil }.map(\.name))
    let state = try daemon.state()
    failures = try daemon.lastFailures(except: state)
    entries = state.entries
    self.checked = checked
  }

  var findings: [Finding] { [navd, commands, record] + files + warnings + windows + late + left + [ofFailures] }

  private var navd: Finding {
    var parts = ["navd \(release)"]
    if let pid = diagnosis.pid { parts.append("process \(pid)") }
    if let since = diagnosis.since { parts.append("since \(Timestamp.local(since))") }
    if let program = diagnosis.startedBy { parts.append("started by \(program)") }
    return Finding(
      "navd", parts.joined(separator: ", "),
      release == Release.version
        ? nil
        : "navctl is \(Release.version): restart navd (systemctl --user restart navd navd-windows), or install both anew"
    )
  }

  private var commands: Finding {
    var text = diagnosis.commands ?? "not known"
    if let names = diagnosis.environment { text += "; imported for them: \(names.joined(separator: ", "))" }
    return Finding(
      "commands", text,
      text.parted(at: "cannot be started") != nil ? "start the user manager, or navd outside its unit" : nil)
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
    Finding.ofFiles(
      diagnosis.mistakes ?? [], count: destinations.count, directories: diagnosis.directories ?? [])
  }

  /// The warnings, checked with navctl's `PATH` where possible, because commands requested from here
  /// get it instead of navd's.
  private var warnings: [Finding] {
    let isOfTheseFiles = checked.map { $0.directories == diagnosis.directories } ?? false
    return Finding.ofWarnings(isOfTheseFiles ? checked?.warnings ?? [] : diagnosis.warnings ?? [])
  }

  /// The items whose programs take longer for their first window than expected.
  private var late: [Finding] {
    entries.compactMap { entry in
      entry.late.map {
        Finding("late", "\(entry.name): \($0)", "wait for it, or end it: navctl close \(entry.text(\.binding))")
      }
    }
  }

  private var left: [Finding] { (diagnosis.left ?? []).map { Finding("left", $0) } }

  private var ofFailures: Finding {
    guard let last = failures.first else { return Finding("failures", "none") }
    let time = last.time.map { " at \(Timestamp.local($0))" } ?? ""
    return Finding(
      "failures", "\(failures.count), the last one of \(last.text(\.binding))\(time): \(last.failure)",
      "see navctl list --failed")
  }
}
