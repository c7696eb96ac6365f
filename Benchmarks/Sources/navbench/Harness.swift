import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc

/// Starts the programs to measure on the session bus, and ends them.
final class Harness {
  static let echo: BusName = "org.navd.Bench.Echo"
  /// The destination of the measured programs.
  static let destination = "bench-panel"

  let loop: EventLoop
  let connection: Connection
  let programs: String
  private var services: [(name: BusName, program: Program)] = []
  private var directories: [String] = []

  /// - Parameter programs: the directory of navd, navctl and navd-windows.
  init(programs: String) throws {
    loop = try EventLoop()
    connection = try Connection.session(loop: loop)
    self.programs = programs
    try configure([Self.destination: "command = ['sleep', '1000']\n"])
  }

  /// Sets the destinations of each navd started from now on. The user's files are not read.
  func configure(_ destinations: [String: String]) throws {
    let configuration = try newDirectory()
    for path in ["/navd", "/navd/destinations"] { mkdir(configuration + path, 0o700) }
    for (name, text) in destinations { try write(text, to: "\(configuration)/navd/destinations/\(name).toml") }
    for variable in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] { setenv(variable, configuration, 1) }
  }

  // MARK: Services

  /// Starts navd with an empty state directory.
  func startNavd() throws -> Program { try start(navd(stateDirectory: newDirectory()), until: CoordinatorNames.bus) }

  func navd(stateDirectory: String) -> [String] {
    ["\(programs)/navd", "--log-level", "error", "--state-directory", stateDirectory]
  }

  /// Starts the service of dbus-test-tool that answers with nothing.
  func startEcho() throws -> Program { try start(["dbus-test-tool", "echo", "--name=\(Self.echo)"], until: Self.echo) }

  func startBareEcho(as name: BusName = BareEcho.name) throws -> Program {
    try start(["/proc/self/exe", "--bare-echo", name.text], until: name)
  }

  /// Starts a program, and waits until it owns a name on the bus.
  func start(_ arguments: [String], until name: BusName) throws -> Program {
    let program = try Program(arguments)
    try waitForOwner(of: name, isThere: true) {
      if program.hasEnded { throw BenchmarkError("\(arguments[0]) ended before it owned \(name)") }
    }
    services.append((name, program))
    return program
  }

  /// Ends a service, and waits until the bus has noticed it: otherwise the next one would seem to own the same name already.
  func stop(_ program: Program) {
    program.end()
    guard let index = services.firstIndex(where: { $0.program === program }) else { return }
    try? waitForOwner(of: services.remove(at: index).name, isThere: false)
  }

  private func waitForOwner(of name: BusName, isThere: Bool, _ check: () throws -> Void = {}) throws {
    var isMet = false
    let watch = connection.watchName(name) { isMet = ($0 != nil) == isThere }
    defer { watch.cancel() }
    while !isMet {
      try check()
      loop.turn(wait: .seconds(1))
    }
  }

  /// Ends all services and removes the directories.
  func stop() {
    for service in services.reversed() { stop(service.program) }
    for directory in directories { try? Program.run(["rm", "-rf", directory]) }
  }

  // MARK: Calls

  func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError) -> Output {
    try connection.callAndWait(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input)
  }

  func dismissAll() throws { _ = try call(CoordinatorInterface.dismissAll, ["all": .boolean(true)]) }

  func process(of name: BusName) throws -> UInt32 {
    let credentials = try connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text)
    guard let process = credentials["ProcessID"].flatMap({ UInt32(value: $0) }) else {
      throw BenchmarkError("expected the process ID of \(name) from the bus, found none")
    }
    return process
  }

  // MARK: Files

  /// Makes a temporary directory, in memory if possible, like the state directory of a session.
  func newDirectory() throws -> String {
    for parent in ["/dev/shm", "/tmp"] {
      let template = strdup("\(parent)/navbench-XXXXXX")!
      defer { free(template) }
      guard let made = mkdtemp(template) else { continue }
      directories.append(String(cString: made))
      return String(cString: made)
    }
    throw BenchmarkError(failed: "mkdtemp")
  }
}

func write(_ text: String, to path: String) throws {
  guard let file = fopen(path, "w") else { throw BenchmarkError(failed: path) }
  fputs(text, file)
  fclose(file)
}

/// - Returns: the text of a file, also of one whose size the kernel does not tell.
func read(_ path: String) throws -> String {
  guard let file = fopen(path, "r") else { throw BenchmarkError(failed: path) }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
