import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes

/// The failure of a measurement, with the reason.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
}

/// Starts the programs to measure on the session bus, and ends them.
final class Harness {
  static let echo: BusName = "org.navd.Bench.Echo"
  /// The destination of the measured programs.
  static let destination = "bench-panel"
  static let command = ["sleep", "1000"]

  let loop: EventLoop
  let connection: Connection
  let directory: String
  private let supervisor: ProcessSupervisor
  private var trees: [ProcessTree] = []
  /// The names owned by programs.
  private var names: [ObjectIdentifier: BusName] = [:]
  private var directories: [String] = []
  private var started = 0

  /// - Parameter programs: the directory of navd, navctl and navbench.
  init(programs: String) throws {
    loop = try EventLoop()
    connection = try Connection.session(loop: loop)
    directory = programs
    supervisor = ProcessSupervisor(loop: loop, markerVariable: "NAVBENCH_MARKER")
    try useOwnConfiguration()
  }

  /// Makes ``destination`` the only one of each navd started from now on.
  func useOwnConfiguration() throws {
    use(try configuration([Self.destination: "command = \(Self.command)\n"]))
  }

  /// Sets the configuration of each navd started from now on. The user's files are not read.
  func use(_ configuration: String) {
    for variable in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] { setenv(variable, configuration, 1) }
  }

  /// Makes a directory with files of destinations.
  func configuration(_ destinations: [String: String]) throws -> String {
    let configuration = try newDirectory()
    let directory = "\(configuration)/navd/destinations"
    for path in ["\(configuration)/navd", directory] { mkdir(path, 0o700) }
    for (name, text) in destinations {
      guard let file = fopen("\(directory)/\(name).toml", "w") else {
        throw BenchmarkError(description: SystemError("\(directory)/\(name).toml").description)
      }
      fputs(text, file)
      fclose(file)
    }
    return configuration
  }

  /// Starts navd with an empty state directory.
  func startNavd() throws -> ProcessTree {
    try start(navd(stateDirectory: newDirectory()), until: CoordinatorNames.bus)
  }

  /// Starts the services with which navd is compared.
  func startEchoes() throws {
    _ = try start(["dbus-test-tool", "echo", "--name=\(Self.echo)"], until: Self.echo)
    _ = try startBareEcho()
  }

  func startBareEcho(as name: BusName = BareEcho.name) throws -> ProcessTree {
    try start(bareEcho(as: name), until: name)
  }

  func bareEcho(as name: BusName = BareEcho.name) -> [String] { ["\(directory)/navbench", "--bare-echo", name.text] }

  func navd(stateDirectory: String) -> [String] {
    ["\(directory)/navd", "--log-level", "error", "--state-directory", stateDirectory]
  }

  func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError) -> Output {
    try connection.callNavdAndWait(method, input)
  }

  /// Makes requests by index, a thousand in each transaction. Four clients make them, because one may not present so many items.
  func fill(_ count: Int, _ request: (Int) -> TransactionRequest) throws {
    let clients = try (0..<4).map { _ in try Connection.session(loop: loop) }
    defer { for client in clients { client.close() } }
    let step = min(count, 1000)
    for start in stride(from: 0, to: count, by: step) {
      _ = try clients[start / step % clients.count].callNavdAndWait(
        CoordinatorInterface.apply, ((start..<start + step).map(request), [:]))
    }
  }

  func process(of name: BusName) throws -> UInt32 {
    let credentials = try connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text)
    guard let process = credentials["ProcessID"].flatMap({ UInt32(value: $0) }) else {
      throw BenchmarkError(description: "expected the process ID of \(name) from the bus, found none")
    }
    return process
  }

  func startWatchers(_ count: Int) throws -> ProcessTree {
    try start(["\(directory)/navbench", "--watchers", "\(count)"], until: Watchers.name(count))
  }

  /// The mean duration of a call until the watchers, too, have read all signals. On one processor they may read the signals of many
  /// calls at once, which the duration of most single calls would leave out.
  func meanNanoseconds(of calls: Int, watchedBy count: Int, _ call: (Int) throws -> Void) throws -> Double {
    try nanoseconds {
      for index in 0..<calls { try call(index) }
      _ = try connection.callAndWait(Peer.ping, on: Watchers.name(count), at: .root, ())
    } / Double(calls)
  }

  /// Ends all started programs and removes the directories.
  func stop() {
    for tree in trees { tree.terminate() }
    while trees.contains(where: \.isLive) { _ = loop.turn(wait: .seconds(10)) }
    for directory in directories { removeAll(directory) }
  }

  func stop(_ tree: ProcessTree) {
    tree.terminate()
    waitForEnd(of: tree)
  }

  /// Waits for the end of a program, and until the bus has noticed it: otherwise the next program would seem to own the same name already.
  func waitForEnd(of tree: ProcessTree) {
    while tree.isLive { _ = loop.turn(wait: .seconds(10)) }
    trees.removeAll { $0 === tree }
    guard let name = names.removeValue(forKey: ObjectIdentifier(tree)) else { return }
    waitForOwner(of: name, isThere: false)
  }

  private func waitForOwner(of name: BusName, isThere: Bool, while isOn: () -> Bool = { true }) {
    var isMet = false
    let watch = connection.watchName(name) { isMet = ($0 != nil) == isThere }
    defer { watch.cancel() }
    while !isMet, isOn() { _ = loop.turn(wait: .seconds(10)) }
  }

  /// Runs a program to its end.
  /// - Throws: `BenchmarkError` unless it exits with status 0.
  func run(_ arguments: [String]) throws {
    let tree = try spawn(arguments)
    var status = ProcessStatus.unknown
    tree.onExit = { status = $0.status }
    waitForEnd(of: tree)
    guard status == .exited(code: 0) else {
      throw BenchmarkError(description: "\(arguments.joined(separator: " ")) failed")
    }
  }

  /// Suspends a program, so that it reads nothing until ``resume(_:)`` or ``stop(_:)``.
  func stall(_ tree: ProcessTree) { send(SIGSTOP, tree) }
  func resume(_ tree: ProcessTree) { send(SIGCONT, tree) }

  private func send(_ signal: Int32, _ tree: ProcessTree) {
    if let process = tree.first?.pid { kill(process, signal) }
  }

  /// Starts a program, and waits until it owns a name on the bus.
  func start(_ arguments: [String], until name: BusName) throws -> ProcessTree {
    let tree = try spawn(arguments)
    waitForOwner(of: name, isThere: true) { tree.isLive }
    guard tree.isLive else { throw BenchmarkError(description: "\(arguments[0]) exited before it owned \(name)") }
    names[ObjectIdentifier(tree)] = name
    return tree
  }

  private func spawn(_ arguments: [String]) throws -> ProcessTree {
    started += 1
    let tree = try supervisor.spawn(
      Command(arguments.map { ByteString($0) }, environment: .ofThisProcess()),
      marker: ByteString("\(getpid())-\(started)"))
    trees.append(tree)
    return tree
  }

  /// Makes a temporary directory, in memory if possible, like the state directory of a session.
  func newDirectory() throws -> String {
    // The runtime directory of a test is on the disk.
    let parents = ["/dev/shm", getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, "/tmp"].compactMap { $0 }
    for parent in parents {
      var template = Array("\(parent)/navbench-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        directories.append(directory)
        return directory
      }
    }
    throw BenchmarkError(description: "no directory can be created in \(parents.joined(separator: ", "))")
  }

  private func removeAll(_ directory: String) {
    for name in (try? directoryEntries(directory.utf8)) ?? [] {
      let path = "\(directory)/\(String(decoding: name, as: UTF8.self))"
      if unlink(path) != 0 { removeAll(path) }
    }
    rmdir(directory)
  }
}

extension TransactionRequest {
  static func present(_ binding: String, _ id: String = "", _ options: Properties = [:]) -> TransactionRequest {
    TransactionRequest("Present", [.string(binding), .string(id), options.value])
  }
}

extension Connection {
  func callNavdAndWait<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError) -> Output {
    try callAndWait(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input)
  }

  /// Calls navd without a timeout.
  func callNavd<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    call(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil, completion)
  }
}
