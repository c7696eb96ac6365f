import CDBus
import DBusValues
import EventLoops
import Glibc

/// A private connection of libdbus-1, driven by an event loop. It sends and receives messages.
///
/// libdbus-1 has two watches for one descriptor, and changes them inside its callbacks while it holds its lock. The loop has one watch
/// for each descriptor. So the callbacks only record changes, and ``applyInterest()`` carries them out.
final class Transport {
  /// The largest number of descriptors of a message. The kernel passes at most 253 with one write (SCM_MAX_FD); libdbus-1 clears a
  /// buffer of this size at each read.
  private static let maxDescriptors = 256
  /// The number of descriptors of unhandled messages at which reading pauses. With the next message, it stays below the reserve.
  private static let maxReceivedDescriptors = 16
  /// The size in bytes beyond which messages are written before the end of the turn.
  private static let maxDelayedBytes = 64 << 10

  private let raw: OpaquePointer
  private let loop: EventLoop

  /// The watches of libdbus-1: one for reading and one for writing; none once it is disconnected.
  private var watches: [OpaquePointer] = []
  private var loopWatch: Watch?
  /// Whether the watch of the loop may differ from those of libdbus-1.
  private var isStale = true

  private var outgoing = OutgoingBytes()
  /// The size of all messages sent since the start, in bytes.
  private(set) var sentSize = 0
  /// Whether the socket's buffer was full at the last write.
  private var isBlocked = false
  /// The last serial. The first one was that of Hello.
  private var lastSerial: UInt32 = 1

  /// Called after the descriptor was ready and libdbus-1 has read from it.
  var onReady: (() -> Void)?

  /// Whether messages are read. This does not affect writing.
  var isReading = true {
    didSet { if isReading != oldValue { isStale = true } }
  }

  /// Connects and registers with the bus. This blocks.
  init(address: String, loop: EventLoop, limits: Connection.Limits) throws(DBusError) {
    let raw = try Self.connect(to: address, limits)
    self.raw = raw
    self.loop = loop
    do throws(DBusError) {
      _ = try checked { error in dbus_bus_register(raw, error) != 0 ? raw : nil }
      try attach()
    } catch {
      close()
      throw error
    }
  }

  /// Connects and registers with the bus, without waiting until the bus answers. Use the transport after that.
  /// - Parameter completion: called once, when the bus has answered or ended; never if it does neither.
  init(
    address: String, loop: EventLoop, limits: Connection.Limits,
    _ completion: @escaping (Result<Transport, DBusError>) -> Void
  ) throws(DBusError) {
    let raw = try Self.connect(to: address, limits)
    self.raw = raw
    self.loop = loop
    do throws(DBusError) {
      guard
        let hello = dbus_message_new_method_call(
          DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "Hello"
        ).map(Message.init(adopting:)),
        dbus_connection_send(raw, hello.raw, nil) != 0
      else { throw DBusError(name: .noMemory, message: "out of memory") }
      // The closure keeps this object until the bus has answered.
      onReady = { [self] in takeName(completion) }
      try attach()
    } catch {
      onReady = nil
      close()
      throw error
    }
  }

  private static func connect(to address: String, _ limits: Connection.Limits) throws(DBusError) -> OpaquePointer {
    // Without this, libdbus-1 ignores SIGPIPE for the whole process.
    dbus_connection_set_change_sigpipe(0)
    let raw = try checked { error in dbus_connection_open_private(address, error) }
    dbus_connection_set_exit_on_disconnect(raw, 0)
    // The first and the third limit must not be lower than those of the bus: libdbus-1 drops the connection for a larger message, and
    // anyone may send us one. (`Limits` restricts requests when they are read.) The other limits only pause reading.
    dbus_connection_set_max_message_size(raw, Int(DBUS_MAXIMUM_MESSAGE_LENGTH))
    dbus_connection_set_max_received_size(raw, limits.receivedBytes)
    dbus_connection_set_max_message_unix_fds(raw, maxDescriptors)
    dbus_connection_set_max_received_unix_fds(raw, maxReceivedDescriptors)
    return raw
  }

  /// Takes the name that the bus answers to Hello.
  private func takeName(_ completion: (Result<Transport, DBusError>) -> Void) {
    // Authentication changes what libdbus-1 waits for.
    applyInterest()
    guard let answer = pop() else { return }
    onReady = nil
    if let error = answer.error { return completion(.failure(error)) }
    // Without a name, the message says that the connection has ended.
    guard let name = answer.destination else { return completion(.failure(.disconnected())) }
    dbus_bus_set_unique_name(raw, name.text)
    completion(.success(self))
  }

  deinit {
    close()
    dbus_connection_unref(raw)
  }

  var uniqueName: BusName { BusName(unchecked: dbus_bus_get_unique_name(raw).map { String(cString: $0) } ?? "") }

  /// Whether the connection is open. libdbus-1 removes its watches when the connection ends. To ask libdbus-1 would take its lock for
  /// every message.
  var isConnected: Bool { !watches.isEmpty }

  // MARK: Writing

  /// The number of bytes that are not yet written.
  var outgoingSize: Int { outgoing.count }

  /// Queues a message for ``write()``.
  /// - Returns: the serial of the message; nil if it cannot be sent.
  func send(_ message: OutgoingMessage) -> UInt32? {
    guard isConnected else { return nil }
    if !message.descriptors.isEmpty, dbus_connection_can_send_type(raw, Int32(ValueType.descriptor.code)) == 0 {
      return nil
    }
    lastSerial = lastSerial == .max ? 1 : lastSerial + 1
    outgoing.append(message, serial: lastSerial)
    sentSize += message.bytes.count
    if outgoing.count > Self.maxDelayedBytes, !isBlocked { write() }
    return lastSerial
  }

  /// Writes queued bytes, as many as the socket takes.
  func write() {
    guard !outgoing.isEmpty else { return }
    guard isConnected, let socket = watches.first.map(dbus_watch_get_unix_fd) else {
      // The connection has ended. Unwritten bytes would keep reading paused, and the end would never be reported.
      outgoing = OutgoingBytes()
      return
    }
    let wasWaiting = isBlocked
    isBlocked = false
    switch outgoing.write(to: socket) {
    case .written: break
    case .blocked: isBlocked = true
    // There may still be messages to read. libdbus-1 notices the end after them.
    case .broken: outgoing = OutgoingBytes()
    }
    if isBlocked != wasWaiting { isStale = true }
  }

  // MARK: Reading

  /// The next complete message.
  func pop() -> Message? {
    guard let message = dbus_connection_pop_message(raw).map(Message.init(adopting:)) else { return nil }
    if message.hasDescriptors { Self.stopLingering() }
    return message
  }

  /// Sets all sockets of this process so that closing them never waits until their data are sent (L2). libdbus-1 closes the descriptors
  /// that a message brings, but reveals only the numbers of those that are arguments. So all descriptors of this process are visited.
  private static func stopLingering() {
    var off = linger()
    for name in (try? directoryEntries("/proc/self/fd".utf8)) ?? [] {
      guard let number = Int32(String(decoding: name, as: UTF8.self)) else { continue }
      setsockopt(number, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
    }
  }

  /// Whether there are more messages. They do not make the descriptor ready, since they have been read from it already.
  var hasIncoming: Bool { dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS }

  /// Writes queued bytes, blocks until the socket is ready, and reads and writes, without the loop.
  /// - Parameter wait: the longest time to wait; nil to wait for ever.
  func readWrite(wait: Duration?) {
    let milliseconds = wait?.saturatingMilliseconds ?? -1
    write()
    guard !outgoing.isEmpty, let socket = watches.first.map(dbus_watch_get_unix_fd) else {
      dbus_connection_read_write(raw, milliseconds)
      return
    }
    var ready = pollfd(fd: socket, events: Int16(POLLIN | POLLOUT), revents: 0)
    poll(&ready, 1, milliseconds)
    write()
    dbus_connection_read_write(raw, 0)
  }

  func close() {
    outgoing = OutgoingBytes()
    // The callbacks remove the watch of the loop before the descriptor is closed.
    dbus_connection_close(raw)
    dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
    loopWatch?.cancel()
    loopWatch = nil
  }

  // MARK: Watches

  private func attach() throws(DBusError) {
    let isAttached = dbus_connection_set_watch_functions(
      raw,
      { watch, data in
        Transport.from(data).added(watch)
        return 1
      },
      { watch, data in Transport.from(data).removed(watch) },
      { _, data in Transport.from(data).isStale = true },
      Unmanaged.passUnretained(self).toOpaque(), nil)
    guard isAttached != 0 else { throw DBusError(name: .noMemory, message: "out of memory") }
    guard applyInterest() else { throw DBusError(name: .failed, message: "the bus's socket cannot be watched") }
  }

  private static func from(_ data: UnsafeMutableRawPointer?) -> Transport {
    // The pointer is set by `attach`, and removed by `close` before the object is destroyed.
    Unmanaged<Transport>.fromOpaque(data!).takeUnretainedValue()
  }

  private func added(_ watch: OpaquePointer?) {
    guard let watch else { return }
    watches.append(watch)
    isStale = true
  }

  private func removed(_ watch: OpaquePointer?) {
    watches.removeAll { $0 == watch }
    isStale = true
    // The descriptor is closed next, and its number may be reused before the end of the turn.
    if watches.isEmpty {
      loopWatch?.cancel()
      loopWatch = nil
    }
  }

  /// Updates the watch of the loop to the events that libdbus-1 and our writing wait for.
  /// - Returns: false if the kernel refused to watch the socket.
  @discardableResult
  func applyInterest() -> Bool {
    guard isStale else { return true }
    isStale = false
    guard let first = watches.first else { return true }
    var interest: Interest = []
    for watch in watches where dbus_watch_get_enabled(watch) != 0 {
      let flags = dbus_watch_get_flags(watch)
      if isReading, flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.read) }
      if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.write) }
    }
    if isBlocked { interest.insert(.write) }
    if let loopWatch {
      loopWatch.interest = interest
      return true
    }
    loopWatch = try? loop.watch(dbus_watch_get_unix_fd(first), interest) { [unowned self] in ready($0) }
    return loopWatch != nil
  }

  private func ready(_ readiness: Readiness) {
    if readiness.contains(.write) { write() }
    var flags: UInt32 = 0
    if readiness.contains(.read) { flags |= DBUS_WATCH_READABLE.rawValue }
    if readiness.contains(.write) { flags |= DBUS_WATCH_WRITABLE.rawValue }
    if readiness.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
    if readiness.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
    // To handle a watch may remove this or another watch.
    for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
      let wanted = dbus_watch_get_flags(watch) | DBUS_WATCH_HANGUP.rawValue | DBUS_WATCH_ERROR.rawValue
      if flags & wanted != 0 { dbus_watch_handle(watch, flags & wanted) }
    }
    onReady?()
  }
}

/// Calls a function of libdbus-1. On failure, it returns nil and fills in an error structure.
private func checked(
  _ call: (UnsafeMutablePointer<CDBus.DBusError>) -> OpaquePointer?
) throws(DBusError) -> OpaquePointer {
  var error = CDBus.DBusError()
  dbus_error_init(&error)
  defer { dbus_error_free(&error) }
  if let result = call(&error) { return result }
  let message = error.message.map { String(cString: $0) } ?? ""
  throw DBusError(
    name: error.name.flatMap { ErrorName(String(cString: $0)) } ?? .failed,
    // Without a full stop, since the message becomes part of a line.
    message: message.hasSuffix(".") ? String(message.dropLast()) : message)
}
