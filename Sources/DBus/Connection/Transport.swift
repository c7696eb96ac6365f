// Why this file exists: libdbus-1 asks for two watches on one descriptor, changes them while it holds its own lock and
// from within its handlers; the loop has one entry a descriptor. Here the two meet.

import CDBus
import DBusValues
import EventLoops
import Glibc

/// A private connection of libdbus-1, driven by an event loop. It moves messages and knows nothing of what they mean.
final class Transport {
  /// More than the kernel carries with one write (253, SCM_MAX_FD); libdbus-1 clears room for as many before each reading.
  private static let mostDescriptors = 256
  /// Past so many bytes what a turn makes is not kept until its end.
  private static let longestDelay = 64 << 10

  private let raw: OpaquePointer
  private let loop: EventLoop

  /// What libdbus-1 wants watched: one to read, one to write, or none once it is disconnected.
  private var watches: [OpaquePointer] = []
  private var loopWatch: Watch?
  /// Changes are only noted in libdbus-1's callbacks, since it holds its lock there, and carried out before the loop
  /// sleeps.
  private var isStale = true

  private var outgoing = OutgoingBytes()
  /// Whether the socket was found to take no more, and has not been found to take more again.
  private var isBlocked = false
  /// The hello was the first.
  private var lastSerial: UInt32 = 1

  /// Called after the descriptor was ready and has been served.
  var onReady: (() -> Void)?

  /// Whether messages are read. Writing goes on.
  var isReading = true {
    didSet { if isReading != oldValue { isStale = true } }
  }

  /// Connects, and says hello to the bus. Waits for both.
  init(address: String, loop: EventLoop, limits: Connection.Limits) throws(DBusError) {
    // Before anything is sent: the process's disposition of SIGPIPE is not libdbus-1's to change.
    dbus_connection_set_change_sigpipe(0)
    let raw = try checked { error in dbus_connection_open_private(address, error) }
    self.raw = raw
    self.loop = loop
    dbus_connection_set_exit_on_disconnect(raw, 0)
    // Not lower than what the bus lets through: libdbus-1 drops the connection for a message past the first or third of
    // these, and anyone may send us one. What a request may cost is looked at when it is read (`Limits`). The others
    // only pause reading.
    dbus_connection_set_max_message_size(raw, Int(DBUS_MAXIMUM_MESSAGE_LENGTH))
    dbus_connection_set_max_received_size(raw, limits.receivedBytes)
    dbus_connection_set_max_message_unix_fds(raw, Self.mostDescriptors)
    dbus_connection_set_max_received_unix_fds(raw, limits.receivedDescriptors)
    do throws(DBusError) {
      _ = try checked { error in dbus_bus_register(raw, error) != 0 ? raw : nil }
      try attach()
    } catch {
      close()
      throw error
    }
  }

  deinit {
    close()
    dbus_connection_unref(raw)
  }

  /// As the bus named us.
  var uniqueName: BusName { BusName(unchecked: dbus_bus_get_unique_name(raw).map { String(cString: $0) } ?? "") }

  /// With the connection libdbus-1 loses what it has watched; asking it would take its lock for every message.
  var isConnected: Bool { !watches.isEmpty }

  // MARK: Writing

  /// Bytes that wait to be written.
  var outgoingSize: Int { outgoing.count }

  /// Queues a message, until ``write()``.
  /// - Returns: its serial; nil if it cannot be sent.
  func send(_ message: OutgoingMessage) -> UInt32? {
    guard isConnected else { return nil }
    if !message.descriptors.isEmpty, dbus_connection_can_send_type(raw, Int32(ValueType.descriptor.code)) == 0 {
      return nil
    }
    lastSerial = lastSerial == .max ? 1 : lastSerial + 1
    outgoing.append(message, serial: lastSerial)
    if outgoing.count > Self.longestDelay, !isBlocked { write() }
    return lastSerial
  }

  /// Writes what waits, as far as the socket takes it.
  func write() {
    guard !outgoing.isEmpty else { return }
    guard isConnected, let socket = watches.first.map(dbus_watch_get_unix_fd) else {
      // libdbus-1 has found the end first. Were this kept, whoever takes nothing in until it is written would never hear
      // of that end.
      outgoing = OutgoingBytes()
      return
    }
    let wasWaiting = isBlocked
    isBlocked = false
    switch outgoing.write(to: socket) {
    case .written: break
    case .blocked: isBlocked = true
    // Who is gone may have left something to read; libdbus-1 finds its end after that.
    case .broken: outgoing = OutgoingBytes()
    }
    if isBlocked != wasWaiting { isStale = true }
  }

  // MARK: Reading

  /// The next message that has arrived whole.
  func pop() -> Message? { dbus_connection_pop_message(raw).map(Message.init(adopting:)) }

  /// Whether there are more to pop. They do not make the descriptor ready: they have been read from it.
  var hasIncoming: Bool { dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS }

  /// Writes what waits, then waits for the socket, without the loop, and reads or writes what it can.
  /// - Parameter wait: nil for ever.
  func readWrite(wait: Duration?) {
    let milliseconds = wait.map { Int32(clamping: ($0.saturatingNanoseconds + 999_999) / 1_000_000) } ?? -1
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
    // Its callbacks take us out of the loop before the descriptor is closed.
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
    guard isAttached != 0 else { throw .noMemory() }
    guard applyInterest() else { throw DBusError(name: .failed, message: "the bus's socket cannot be watched") }
  }

  private static func from(_ data: UnsafeMutableRawPointer?) -> Transport {
    // Given by `attach`, and taken back by `close` before the object goes.
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
    // The descriptor is closed next, and its number may be somebody else's by the end of the turn.
    if watches.isEmpty {
      loopWatch?.cancel()
      loopWatch = nil
    }
  }

  /// Tells the loop what libdbus-1 wants by now, if that has changed.
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
    // A watch may go while another, or it itself, is being handled.
    for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
      let wanted = dbus_watch_get_flags(watch) | DBUS_WATCH_HANGUP.rawValue | DBUS_WATCH_ERROR.rawValue
      if flags & wanted != 0 { dbus_watch_handle(watch, flags & wanted) }
    }
    onReady?()
  }
}

/// Calls what reports by libdbus-1's error structure and returns nothing in case of one.
private func checked(
  _ call: (UnsafeMutablePointer<CDBus.DBusError>) -> OpaquePointer?
) throws(DBusError) -> OpaquePointer {
  var error = CDBus.DBusError()
  dbus_error_init(&error)
  defer { dbus_error_free(&error) }
  if let result = call(&error) { return result }
  throw DBusError(
    name: error.name.flatMap { ErrorName(String(cString: $0)) } ?? .failed,
    message: error.message.map { String(cString: $0) } ?? "")
}
