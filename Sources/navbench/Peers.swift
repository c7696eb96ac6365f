// Why this file exists: everything that is measured is started here, and ended here by its own number.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes

/// What could not be measured, and why.
struct MeasuringFailure: Error, CustomStringConvertible {
  let description: String
}

/// The programs that are measured, running on the session bus.
final class Peers {
  typealias Running = ProcessTree
  static let echo: BusName = "org.navd.Bench.Echo"

  let loop: EventLoop
  let connection: Connection
  let directory: String
  private let supervisor: ProcessSupervisor
  private var trees: [ProcessTree] = []
  private var directories: [String] = []
  private var started = 0

  /// - Parameter programs: the directory of navd, navctl and navbench.
  init(programs: String) throws {
    loop = try EventLoop()
    connection = try Connection.session(loop: loop)
    directory = programs
    supervisor = ProcessSupervisor(loop: loop, markerVariable: "NAVBENCH_MARKER")
  }

  /// Starts navd with nothing on record.
  func startNavd() throws -> Running { try start(navd(stateDirectory: newDirectory()), until: CoordinatorNames.bus) }

  /// Starts what navd is measured beside.
  func startEchoes() throws {
    _ = try start(["dbus-test-tool", "echo", "--name=\(Self.echo)"], until: Self.echo)
    _ = try start(["\(directory)/navbench", "--bare-echo"], until: BareEcho.name)
  }

  func navd(stateDirectory: String) -> [String] {
    ["\(directory)/navd", "--log-level", "error", "--state-directory", stateDirectory]
  }

  /// Calls navd.
  func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError) -> Output {
    try connection.callAndWait(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input)
  }

  /// The process that has a name on the bus.
  func process(of name: BusName) throws -> UInt32 {
    let credentials = try connection.callAndWait(
      Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text)
    guard let process = credentials["ProcessID"].flatMap({ UInt32(value: $0) }) else {
      throw MeasuringFailure(description: "the bus does not tell the process of \(name)")
    }
    return process
  }

  func startWatchers(_ count: Int) throws -> Running {
    try start(["\(directory)/navbench", "--watchers", "\(count)"], until: Watchers.name(count))
  }

  /// Ends everything that was started.
  func stop() {
    for tree in trees { tree.terminate() }
    while trees.contains(where: \.isLive) { _ = loop.turn(wait: .seconds(10)) }
    for directory in directories { removeAll(directory) }
  }

  func stop(_ tree: Running) {
    tree.terminate()
    waitForEnd(of: tree)
  }

  func waitForEnd(of tree: Running) {
    while tree.isLive { _ = loop.turn(wait: .seconds(10)) }
    trees.removeAll { $0 === tree }
  }

  /// Runs a program to its end.
  /// - Throws: where it failed.
  func run(_ arguments: [String]) throws {
    let tree = try spawn(arguments)
    var status = ProcessStatus.unknown
    tree.onExit = { status = $0.status }
    waitForEnd(of: tree)
    guard status == .exited(code: 0) else {
      throw MeasuringFailure(description: "\(arguments.joined(separator: " ")) failed")
    }
  }

  /// It reads nothing any more, until it is stopped.
  func stall(_ tree: Running) {
    if let process = tree.first?.pid { kill(process, SIGSTOP) }
  }

  /// Starts a program, and waits until it has a name on the bus.
  func start(_ arguments: [String], until name: BusName) throws -> Running {
    let tree = try spawn(arguments)
    var isThere = false
    let watch = connection.watchName(name) { isThere = $0 != nil }
    defer { watch.cancel() }
    while !isThere {
      guard tree.isLive else { throw MeasuringFailure(description: "\(arguments[0]) ended before it had its name") }
      _ = loop.turn(wait: .seconds(10))
    }
    return tree
  }

  private func spawn(_ arguments: [String]) throws -> Running {
    started += 1
    let tree = try supervisor.spawn(
      Command(arguments.map { ByteString($0) }, environment: .ofThisProcess()),
      marker: ByteString("\(getpid())-\(started)"))
    trees.append(tree)
    return tree
  }

  /// A directory for a record, in memory if there is room for it: that is where a session has it.
  func newDirectory() throws -> String {
    let places = [getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, "/dev/shm", "/tmp"].compactMap { $0 }
    for place in places {
      var template = Array("\(place)/navbench-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        directories.append(directory)
        return directory
      }
    }
    throw MeasuringFailure(description: "no directory can be made in \(places.joined(separator: ", "))")
  }

  private func removeAll(_ directory: String) {
    guard let entries = opendir(directory) else { return }
    while let entry = readdir(entries) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let path = "\(directory)/\(name)"
      if unlink(path) != 0 { removeAll(path) }
    }
    closedir(entries)
    rmdir(directory)
  }
}
