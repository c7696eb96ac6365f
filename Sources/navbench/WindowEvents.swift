import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import TextFormats

/// The events of windows of sway or i3, as each program can receive them from its socket.
final class WindowEvents {
  /// The words of an event, such as `new` and `close`, and the window's number, app-id and title.
  var onEvent: ((_ change: String, _ id: Int64, _ appID: String, _ title: String) -> Void)?

  private let descriptor: Int32
  private var watch: Watch?
  private var bytes: [UInt8] = []

  static var path: String? {
    for name in ["SWAYSOCK", "I3SOCK"] { if let path = getenv(name) { return String(cString: path) } }
    return nil
  }

  /// - Throws: `BenchmarkError` if there is no sway and no i3.
  init(_ loop: EventLoop) throws {
    guard let path = Self.path else { throw BenchmarkError(description: "neither SWAYSOCK nor I3SOCK is set") }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    descriptor = socket
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let subscription = Array("[\"window\"]".utf8)
    let request = Array("i3-ipc".utf8) + Self.number(subscription.count) + Self.number(2) + subscription
    guard result == 0, send(socket, request, request.count, 0) == request.count else {
      throw BenchmarkError(description: SystemError(path).description)
    }
    watch = try loop.watch(socket, .read) { [unowned self] _ in receive() }
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }

  private static func number(_ number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return watch?.cancel() ?? () }
    bytes += buffer.prefix(count)
    while bytes.count >= 14 {
      func number(at index: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[index + $1]) << (8 * $1) } }
      let (length, isEvent) = (number(at: 6), number(at: 10) >> 31 == 1)
      guard bytes.count >= 14 + length else { return }
      let payload = bytes[14..<(14 + length)]
      bytes.removeFirst(14 + length)
      guard isEvent, let json = try? JSON.parse(String(decoding: payload, as: UTF8.self)),
        let change = json["change"]?.string, let window = json["container"], case .integer(let id)? = window["id"]
      else { continue }
      onEvent?(change, id, window["app_id"]?.string ?? "", window["name"]?.string ?? "")
    }
  }
}

/// The least that a program can do about a new window: it sends a signal when the compositor tells the window's title.
final class BareWindows {
  static let name: BusName = "org.navd.Bench.Windows"
  static let path: ObjectPath = "/org/navd/Bench/Windows"
  static let opened = Signal("org.navd.Bench.Windows", "Opened", Arg<Int64>("id"))

  /// Runs until the process is killed.
  static func serve() throws {
    let loop = try EventLoop()
    let connection = try Connection.session(loop: loop)
    let events = try WindowEvents(loop)
    var titles = FirstTitles()
    events.onEvent = { change, id, _, title in
      if titles.isFirst(change, id, title) { try? connection.emit(opened, from: path, id) }
    }
    connection.requestName(name) { _ in }
    withExtendedLifetime(events) { loop.run() }
  }
}

/// Finds the first event of each window that has a title.
struct FirstTitles {
  private var known: Set<Int64> = []

  mutating func isFirst(_ change: String, _ id: Int64, _ title: String) -> Bool {
    if change == "close" { known.remove(id) }
    return change != "close" && !title.isEmpty && known.insert(id).inserted
  }
}
