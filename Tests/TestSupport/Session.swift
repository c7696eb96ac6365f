public import CoordinatorAPI
public import DBus
public import DBusValues
public import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// The program of the message bus.
public enum BusProgram: String, CaseIterable, Sendable {
  case daemon = "dbus-daemon"
  /// A bus that a user manager starts.
  case broker = "dbus-broker"

  /// The bus that a variable of the environment names, so that long runs can go side by side; nil if it names none.
  public static func named(by variable: String) -> [BusProgram]? {
    getenv(variable).flatMap { BusProgram(rawValue: String(cString: $0)) }.map { [$0] }
  }
}

/// A private desktop session with a real navd: a bus, directories, and programs that use them. Tests of navd as a whole use one,
/// with a ``UserManager`` or a ``Desktop`` only if they need it, since these take seconds to start.
///
/// Every program started in it, including navd's commands, has `NAVD_TEST_SESSION` in its environment. The session
/// finds its programs by this variable and kills them when it ends.
public final class Session {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
  }

  /// The time limit of every wait. Only a failure takes this long.
  public static let limit = Duration.seconds(30)

  public let bus: any SessionBus
  public let loop: EventLoop
  /// The systemd user manager, if the session has one.
  public let manager: UserManager?
  /// The desktop, if the session has one.
  public let desktop: Desktop?
  /// The connection that the test itself uses for calls.
  public let client: Connection
  /// The daemon, while the session runs one.
  public private(set) var navd: Program?
  /// The bus's own name of the navd that was started last.
  private var uniqueName: BusName?
  /// The environment of the session's programs.
  public var environment: [String: String]
  /// The beginning of navd's command line: a program that executes the rest in its own place.
  public var wrapper: [String] = []

  let home: Home
  /// The owner of the session's files; nil for the user who runs the tests.
  private let user: Desktop.User?
  private var journal: Journal?
  private var watchers: [Watcher] = []
  /// The programs that were started, as long as the test holds them.
  private var programs: [Weak] = []
  private struct Weak { weak var program: Program? }
  private let duration: TestDuration

  /// - Parameters:
  ///   - destinations: the text of each destination file, by its name without `.toml`.
  ///   - starting: whether navd is started and waited for.
  ///   - activatable: whether the bus starts navd for its callers.
  ///   - services: other services that the bus starts: command lines by bus name; `$HOME` in them is the session's.
  ///   - program: the bus.
  ///   - busLimits: limits that replace those of an ordinary session bus, by their names in its configuration.
  ///   - managed: whether there is a user manager, whose bus is then used.
  ///   - desktop: the window manager, if there are to be windows. The desktop's bus is then used, and its user owns all files.
  ///   - configuration: configuration of the desktop, in its own syntax.
  ///   - files: files that exist before all programs start, by their paths from the session's home.
  ///   - file: the file of the test, and `function` its function, for ``TestDuration``.
  public init(
    destinations: [String: String] = [:], starting: Bool = true, activatable: Bool = false,
    services: [String: String] = [:], program: BusProgram = .daemon, busLimits: [String: Int] = [:],
    managed: Bool = false, desktop: Desktop.Manager? = nil, configuration: String = "", files: [String: String] = [:],
    file: String = #fileID, function: String = #function
  ) throws {
    duration = TestDuration(file, function)
    user = try desktop == nil ? nil : Desktop.User()
    home = Home(of: user)
    var environment = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home.path, "LANG": "C.UTF-8",
      "XDG_CONFIG_HOME": home.path(of: "config"), "XDG_CONFIG_DIRS": home.path(of: "etc"),
      "XDG_DATA_HOME": home.path(of: ".local/share"), "XDG_DATA_DIRS": home.path(of: "share"),
      "XDG_STATE_HOME": home.path(of: "state"), "NAVD_TEST_SESSION": home.path,
      "NAVD_TEST_JOURNAL": home.path(of: "journal"),
      // There is no logind, unless a test provides one.
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(home.path(of: "system-bus"))",
    ]
    if desktop != nil {
      // Toolkits need the system's data and configuration. Services that toolkits would start are disabled.
      environment["PATH"] = "\(home.path(of: "bin")):/usr/local/bin:/usr/bin:/bin"
      environment["XDG_CONFIG_DIRS", default: ""] += ":/etc/xdg"
      environment["XDG_DATA_DIRS", default: ""] += ":/usr/share"
      environment.merge(["SHELL": "/bin/sh", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory"]) { $1 }
    }
    var files = files
    var services = services
    if activatable { services[CoordinatorNames.bus.text] = desktop == nil ? Self.program("navd") : "$HOME/bin/navd" }
    for (name, commandLine) in services {
      let words = commandLine.split(separator: "$HOME", omittingEmptySubsequences: false).joined(separator: home.path)
      files[".local/share/dbus-1/services/\(name).service"] = "[D-BUS Service]\nName=\(name)\nExec=\(words)\n"
    }
    if program == .broker {
      files["bus.conf"] = PrivateBus.configuration(busLimits)
      files["config/systemd/user/dbus.service"] = """
        [Service]
        Type=notify
        Sockets=dbus.socket
        ExecStart=/usr/bin/dbus-broker-launch --scope user --config-file \(home.path(of: "bus.conf"))

        """
    }
    for (name, text) in destinations { files["config/navd/destinations/\(name).toml"] = text }
    home.makeDirectory("config/navd/destinations")
    for (name, text) in files { try home.write(text, to: name) }
    if managed || program == .broker {
      // The system may have chosen dbus-broker for all its sessions; a unit in the home takes precedence.
      home.makeDirectory("etc/systemd/user")
      symlink("/usr/lib/systemd/user/dbus.service", home.path(of: "etc/systemd/user/dbus.service"))
      let manager = try UserManager(environment: environment)
      (self.manager, self.desktop, bus) = (manager, nil, manager)
    } else if let desktop, let user {
      home.makeDirectory("bin")
      for name in ["navd", "navctl", "navd-windows"] { Self.installProgram(name, in: home) }
      if desktop == .kwin { try KWin.allowWindows(in: home) }
      if desktop == .described { try DescribedDesktop.install(in: home) }
      if desktop == .gnome { try GnomeShell.installExtension(in: home) }
      let desktop = try Desktop(desktop, of: user, environment: environment, configuration: configuration)
      (manager, self.desktop, bus) = (nil, desktop, desktop)
    } else {
      (manager, self.desktop) = (nil, nil)
      // The bus's own directory is unknown before the bus starts.
      bus = try PrivateBus(
        limits: busLimits, environment: environment.merging(["XDG_RUNTIME_DIR": home.path]) { $1 })
    }
    loop = try EventLoop()
    client = try Connection.open(address: bus.address, loop: loop)
    environment["XDG_RUNTIME_DIR"] = bus.directory
    environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
    // This passes on the variables that select a checking libdbus.
    for name in ["LD_LIBRARY_PATH", "DBUS_FATAL_WARNINGS"] {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    self.environment = environment
    journal = try Journal(home.path(of: "journal"), loop)
    home.give(path("journal"))
    if manager != nil { try waitForManager() }
    if starting { try start() }
  }

  deinit {
    // navd ends first, so that it starts no more programs.
    navd = nil
    for process in processes() { kill(process.pid, SIGKILL) }
    duration.record()
  }

  // MARK: Files

  /// The path of a file in the session's home.
  public func path(_ name: String) -> String { home.path(of: name) }

  /// The path of a destination file as navd reports it.
  public func destinationPath(_ name: String) -> String { home.path(of: "config/navd/destinations/\(name).toml") }

  public func write(_ text: String, toDestination name: String) throws {
    try write(text, to: "config/navd/destinations/\(name).toml")
  }

  /// Writes a file, given its path relative to the session's home.
  public func write(_ text: String, to path: String) throws { try home.write(text, to: path) }

  // MARK: Programs

  /// Installs a program in the `bin` of the session: a desktop's user may have no access to the build directory.
  public func installProgram(_ name: String) { if desktop != nil { Self.installProgram(name, in: home) } }

  private static func installProgram(_ name: String, in home: Home) {
    let path = home.path(of: "bin/\(name)")
    // The directory may be on another file system.
    if link(program(name), path) != 0 { symlink(program(name), path) }
  }

  /// The path of a program in the directory that `NAVD_TEST_BUILD` names, such as a release build, or else beside the tests.
  /// - Parameter name: the program's name; empty for the directory.
  public static func program(_ name: String) -> String {
    if let directory = getenv("NAVD_TEST_BUILD"), case let path = "\(String(cString: directory))/\(name)",
      access(path, X_OK) == 0
    {
      return path
    }
    return besideTests(name)
  }

  /// The path of what the build with the tests has made, such as its modules: a build of the programs alone has none of the library.
  public static func besideTests(_ name: String) -> String {
    let own = Files.target(of: "/proc/self/exe") ?? ""
    return own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/" + name
  }

  /// Starts navd and waits until it owns its bus name.
  public func start(_ arguments: [String] = []) throws {
    // navd gets no variables of the displays, because a navd that the bus activates lacks them, too.
    let navd = try start(wrapper + [executable("navd")] + arguments, environment: environment)
    self.navd = navd
    var owner: BusName?
    let watch = client.watchName(CoordinatorNames.bus) { owner = $0 }
    defer { watch.cancel() }
    try wait("navd owns its bus name") {
      // The bus may still know a former navd that was killed.
      owner != nil && owner != uniqueName || navd.status != nil
    }
    guard navd.status == nil else { throw failure("navd has ended") }
    uniqueName = owner
  }

  /// Waits until the user manager is on its bus, to which it connects some time after it has started the bus. Without the manager,
  /// navd would start commands itself.
  private func waitForManager() throws {
    var owner: BusName?
    let watch = client.watchName("org.freedesktop.systemd1") { owner = $0 }
    defer { watch.cancel() }
    try wait("the user manager is on the bus") { owner != nil }
  }

  /// Sends navd a signal and waits for its end.
  /// - Returns: the exit status of navd.
  @discardableResult
  public func stop(_ signal: Int32 = SIGTERM) throws -> ProcessStatus? {
    guard let navd else { return nil }
    navd.send(signal)
    return try waitForEnd()
  }

  /// Waits until navd has ended.
  /// - Returns: the exit status of navd.
  @discardableResult
  public func waitForEnd() throws -> ProcessStatus? {
    guard let navd else { return nil }
    // The end of its standard error is not waited for: commands that navd started write there, too.
    try wait("navd ends") { navd.status != nil }
    // This reads the last output from the pipe.
    loop.turn(wait: .zero)
    self.navd = nil
    return navd.status
  }

  /// Starts a program in the session.
  /// - Parameter mayFail: whether the test goes on after a failure without a check of it.
  public func start(
    program: String, _ arguments: [String], input: String = "", mayFail: Bool = false
  ) throws -> Program {
    let environment = environment.merging(desktop?.displays ?? [:]) { $1 }
    let program = try start([program] + arguments, environment: environment, input: input)
    program.mayFail = mayFail
    return program
  }

  private func start(_ command: [String], environment: [String: String], input: String = "") throws -> Program {
    let program = try Program(
      loop, (user?.prefix ?? []) + command, environment: environment, input: Array(input.utf8))
    programs.removeAll { $0.program == nil }
    programs.append(Weak(program: program))
    return program
  }

  /// The path of one of navd's programs where the session's user has access to it.
  public func executable(_ name: String) -> String {
    desktop == nil ? Self.program(name) : path("bin/\(name)")
  }

  /// Runs a program in the session and waits for its end.
  public func run(program: String, _ arguments: [String], input: String = "") throws -> Program {
    let run = try start(program: program, arguments, input: input)
    try wait("\(program) \(arguments) ends") { run.hasEnded }
    return run
  }

  /// Runs navctl and waits for its end.
  public func navctl(_ arguments: String..., input: String = "") throws -> Program {
    try run(program: executable("navctl"), arguments, input: input)
  }

  /// Starts navctl and returns while it runs. The test checks its exit status itself.
  public func startNavctl(_ arguments: String...) throws -> Program {
    try start(program: executable("navctl"), arguments, mayFail: true)
  }

  /// Runs systemctl in the session and waits for its end.
  public func systemctl(_ arguments: String...) throws -> Program {
    try run(program: "/usr/bin/systemctl", ["--user", "--no-pager"] + arguments)
  }

  /// The lines that a unit has written to the systemd journal.
  ///
  /// If its process has ended before the journal looks it up, the journal takes the unit for one of the system's, which
  /// “--user-unit” does not find.
  public func journal(of unit: String) throws -> [String] {
    guard let inside = manager?.inside else { return [] }
    let matches = ["_SYSTEMD_USER_UNIT=\(unit)", "+", "_SYSTEMD_UNIT=\(unit)", "+", "USER_UNIT=\(unit)"]
    let arguments = inside + ["/usr/bin/journalctl", "--no-pager", "--output=cat"] + matches
    return try run(program: arguments[0], Array(arguments.dropFirst())).lines
  }

  // MARK: Processes

  public struct Process: Hashable {
    public let pid: pid_t
    /// The program's name, which is the parent's name between fork and exec.
    public let name: String
    /// `NAVD_BINDING` and `NAVD_ID`, if navd has set them.
    public let binding: String?
    public let id: String?
  }

  /// The running commands of this session, as found in the process table.
  public func processes() -> [Process] { Self.processes(of: home.path) }

  /// The running commands of a session, found by its mark: the value of `NAVD_TEST_SESSION`.
  static func processes(of mark: String) -> [Process] {
    environments(of: mark).compactMap { pid, variables in
      func value(of name: String) -> String? {
        let prefix = Array((name + "=").utf8)
        return variables.first { $0.starts(with: prefix) }.map {
          String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
        }
      }
      guard let binding = value(of: "NAVD_BINDING") else { return nil }
      let program = String(
        decoding: Files.contents(of: "/proc/\(pid)/comm").prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return Process(pid: pid, name: program, binding: binding, id: value(of: "NAVD_ID"))
    }
  }

  /// All processes of a session, including those that navd did not start; to be used after the session's end.
  /// - Parameter home: the path of the session's home.
  public static func remains(of home: String) -> [pid_t] { environments(of: home).map(\.pid) }

  /// The processes with a session's mark, and their environments.
  private static func environments(of mark: String) -> [(pid: pid_t, variables: [ArraySlice<UInt8>])] {
    let mark = Array("NAVD_TEST_SESSION=\(mark)".utf8)
    var found: [(pid_t, [ArraySlice<UInt8>])] = []
    for name in (try? Files.names(in: "/proc")) ?? [] {
      guard let pid = pid_t(name) else { continue }
      let environment = Files.contents(of: "/proc/\(name)/environ")
      // Hundreds of processes of other tests are looked at, and few are of this one.
      if hasVariable(mark, environment) { found.append((pid, environment.split(separator: 0))) }
    }
    return found
  }

  private static func hasVariable(_ variable: [UInt8], _ environment: [UInt8]) -> Bool {
    environment.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, let end = memchr(start, 0, rest.count) {
        let count = UnsafeRawPointer(end) - start
        if count == variable.count, memcmp(start, variable, count) == 0 { return true }
        rest = rest.dropFirst(count + 1)
      }
      return false
    }
  }

  /// The resident memory of a process, in bytes.
  public static func memory(of pid: pid_t) -> Int {
    let fields = Files.contents(of: "/proc/\(pid)/statm").split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The peak of a process's resident memory since ``forgetPeak(of:)``, in bytes.
  public static func peakMemory(of pid: pid_t) -> Int { number("VmHWM:", of: pid) << 10 }

  public static func forgetPeak(of pid: pid_t) throws { try Files.write("5", to: "/proc/\(pid)/clear_refs") }

  /// The anonymous memory of a process, in bytes. Code is not counted, because it is loaded when first used.
  public static func privateMemory(of pid: pid_t) -> Int { number("RssAnon:", of: pid) << 10 }

  /// The number of times that a process with one thread has begun to wait.
  public static func wakeUps(of pid: pid_t) -> Int { number("voluntary_ctxt_switches:", of: pid) }

  /// Whether a process waits for something other than a processor.
  public static func isAsleep(_ pid: pid_t) -> Bool { status("State:", of: pid) == "S" }

  private static func number(_ field: String, of pid: pid_t) -> Int { status(field, of: pid).flatMap { Int($0) } ?? 0 }

  /// The first word of a field of the process's status.
  private static func status(_ field: String, of pid: pid_t) -> Substring? {
    let status = String(decoding: Files.contents(of: "/proc/\(pid)/status"), as: UTF8.self)
    let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
  }

  /// The number of open descriptors of a process.
  public static func descriptors(of pid: pid_t) -> Int {
    (try? Files.names(in: "/proc/\(pid)/fd").count) ?? 0
  }

  /// The lines that the session's commands have written to the journal, the file named by `NAVD_TEST_JOURNAL`.
  public var journalLines: [String] { journal?.lines ?? [] }

  // MARK: Waiting

  /// Turns the loop until the condition holds.
  /// - Throws: `Failure` with navd's standard error if the condition does not hold within the limit, or at once if a program of the
  ///   test has failed and the test does not expect it.
  public func wait(
    _ what: String, within limit: Duration = Session.limit, until condition: () -> Bool
  ) throws {
    // A program whose children keep its output open counts as ended a second later, without an event.
    try wait(what, within: limit, lookingEvery: .seconds(1), until: condition)
  }

  /// Turns the loop until the condition holds, for conditions without an event, such as the contents of the process table.
  public func poll(
    _ what: String, within limit: Duration = Session.limit, until condition: () throws -> Bool
  ) throws {
    try wait(what, within: limit, lookingEvery: .milliseconds(2), until: condition)
  }

  private func wait(
    _ what: String, within limit: Duration, lookingEvery pause: Duration, until condition: () throws -> Bool
  ) throws {
    let end = loop.now + limit
    while try !condition() {
      if let ended = programs.lazy.compactMap(\.program?.unseenFailure).first {
        throw failure("a program has failed while the test waited until \(what):\n\(ended)")
      }
      let left = end - loop.now
      guard left > .zero else { throw failure("timed out after \(limit) waiting until \(what)") }
      loop.turn(wait: min(left, pause))
    }
  }

  private func failure(_ what: String) -> Failure {
    var text = what
    if let navd {
      text += "; navd \(navd.status.map { "ended: \($0)" } ?? "runs")"
      if !navd.errors.isEmpty { text += ", and said:\n\(navd.errorText)" }
    }
    if !journalLines.isEmpty { text += "\nthe journal:\n\(journalLines.suffix(40).joined(separator: "\n"))" }
    for watcher in watchers { text += "\na watcher saw last:\n\(watcher.log.suffix(40).joined(separator: "\n"))" }
    return Failure(text)
  }

  // MARK: Calls

  /// Opens another client connection.
  public func connect() throws -> Connection { try Connection.open(address: bus.address, loop: loop) }

  /// Calls navd and waits for the answer.
  /// - Throws: the `DBusError` of the answer, or `Failure`.
  @discardableResult
  public func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, at path: ObjectPath = CoordinatorNames.object,
    on destination: BusName = CoordinatorNames.bus, by client: Connection? = nil
  ) throws -> Output {
    let call = begin(method, input, at: path, on: destination, by: client)
    return try answer(to: call)
  }

  /// The name and the path of the presenter of a destination.
  public func presenter(of destination: String) throws -> (name: BusName, path: ObjectPath)? {
    let found = try call(CoordinatorInterface.destinations, ()).first { $0.fields.0 == destination }
    guard let entry = found.map({ DestinationEntry($0.fields.1) }), let path = entry.path else { return nil }
    return entry.bus.flatMap { BusName($0) }.map { ($0, path) }
  }

  /// A call whose answer may be outstanding.
  public final class Pending<Output> {
    fileprivate let name: String
    public fileprivate(set) var result: Result<Output, DBusError>?
    fileprivate init(_ name: String) { self.name = name }
  }

  /// Calls navd without waiting for the answer.
  public func begin<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, at path: ObjectPath = CoordinatorNames.object,
    on destination: BusName = CoordinatorNames.bus, by client: Connection? = nil
  ) -> Pending<Output> {
    let pending = Pending<Output>(method.name.text)
    let client = client ?? self.client
    client.call(method, on: destination, at: path, input, timeout: nil) { [weak self] result in
      pending.result = result
      for watcher in self?.watchers ?? [] where watcher.connection === client {
        watcher.note("reply \(method.name)")
      }
    }
    return pending
  }

  public func answer<Output>(to pending: Pending<Output>) throws -> Output {
    try wait("\(pending.name) is answered") { pending.result != nil }
    guard let result = pending.result else { preconditionFailure("waited for above") }
    return try result.get()
  }

  /// Calls navd and expects an error.
  /// - Returns: the error; nil if the call succeeded.
  public func error<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, at path: ObjectPath = CoordinatorNames.object,
    by client: Connection? = nil
  ) throws -> DBusError? {
    do {
      try call(method, input, at: path, by: client)
      return nil
    } catch let error as DBusError {
      return error
    }
  }

  /// Calls navd and expects one of the contract's errors.
  /// - Returns: the error; nil if the call succeeded.
  /// - Throws: any other error.
  public func refusal<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, at path: ObjectPath = CoordinatorNames.object,
    by client: Connection? = nil
  ) throws -> CoordinatorError? {
    guard let error = try error(method, input, at: path, by: client) else { return nil }
    guard let name = CoordinatorError.Name(error.name) else { throw error }
    return CoordinatorError(name, error.message)
  }

  // MARK: Shorthands

  /// Presents an item, which may be state only, and returns its handle.
  @discardableResult
  public func present(
    _ binding: String, _ id: String = "", _ options: Properties = [:], by client: Connection? = nil
  ) throws -> ObjectPath {
    try call(CoordinatorInterface.present, (binding, id, .state.merging(options) { $1 }), by: client).0
  }

  @discardableResult
  public func dismiss(_ binding: String, _ options: Properties = [:], by client: Connection? = nil) throws -> Bool {
    try call(CoordinatorInterface.dismiss, (binding, options), by: client).0
  }

  /// Waits until a presentation has ended.
  public func ending(of presentation: ObjectPath) throws -> (reason: String, result: Properties) {
    let (reason, answer) = try call(CoordinatorInterface.wait, (presentation, "gone"))
    var result = answer
    let isKnown = result.removeValue(forKey: PresentationResult.keys.statusKnown.name)
    guard isKnown == .boolean(result[PresentationResult.keys.status.name] != nil) else {
      throw Failure("status-known is \(String(describing: isKnown)) in the result \(result)")
    }
    return (reason, result)
  }

  /// The state as returned by `GetState`.
  public func state() throws -> JSON { JSON(try call(CoordinatorInterface.getState, ()).0) }

  /// Records all signals of navd from now on.
  public func watch(on connection: Connection? = nil) throws -> Watcher {
    let connection = connection ?? client
    let watcher = Watcher(connection)
    watchers.append(watcher)
    var isReady = false
    watcher.subscribe { isReady = true }
    try wait("the watcher is ready") { isReady }
    let (state, serial) = try call(CoordinatorInterface.getState, (), by: connection)
    watcher.begin(with: JSON(state), serial)
    return watcher
  }
}

extension Properties {
  /// The options of a request for an item that is state only.
  public static let state: Properties = [Options.state.name: .boolean(true)]
}

/// Collects the lines that the session's commands write to the journal.
private final class Journal {
  var lines: [String] { written.lines }
  private var written = Lines()
  private let descriptor: Int32
  private var watch: Watch?

  init(_ path: String, _ loop: EventLoop) throws {
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo \(path)") }
    // The FIFO is opened for writing too, so that reading never reaches its end.
    descriptor = try check("open \(path)") { open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
    watch = try loop.watch(descriptor, .read) { [unowned self] _ in take() }
  }

  private func take() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return }
    buffer.withUnsafeBytes { written.take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }
}
