import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

@testable import DBus

// Sockets that bring the signals of a service past the bus.

/// A client of the fixture's service by a socket, and what it has received.
private final class Listener {
  private(set) var received: [String] = []
  private(set) var hasEnded = false
  private(set) var socket: SignalSocket!

  init(_ socket: Descriptor, on loop: EventLoop) throws {
    self.socket = try SignalSocket(socket, on: loop) { [unowned self] signal in
      if let (what, serial) = try? Echo.happened.arguments(of: signal) {
        received.append("\(what) \(serial)")
      } else if let changed = try? PropertyAccessing.propertiesChanged.arguments(of: signal).1 {
        received.append("changed \(changed.keys.sorted().joined(separator: " "))")
      }
    } onEnd: { [unowned self] in
      #expect(!hasEnded)
      hasEnded = true
    }
  }
}

extension Fixture {
  fileprivate func happen(_ what: String, _ serial: UInt64, to client: BusName? = nil) throws {
    try service.emit(Echo.happened, from: Echo.path, to: client, (what, serial))
  }
}

/// The two ends of a socket, of which a test writes into the first.
private func pair(_ type: __socket_type) throws -> (Descriptor, Descriptor) {
  var ends: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
  return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
}

@Test func signalSocket_ofService_bringsEachSignalInOrder_asTheBusDoes() throws {
  let fixture = try Fixture()
  let listener = try Listener(try fixture.service.openSignalSocket(), on: fixture.loop)
  var byBus: [String] = []
  fixture.client.subscribe(to: Echo.happened) { arguments, _ in byBus.append("\(arguments.0) \(arguments.1)") }
  try fixture.settle()
  try fixture.happen("first", 1)
  fixture.service.propertyChanged(Echo.path, Echo.count)
  try fixture.happen("for one client alone", 2, to: fixture.client.uniqueName)
  try fixture.happen("second", 3)
  try fixture.settle()
  #expect(listener.received == ["first 1", "second 3", "changed Count"])
  #expect(byBus == ["first 1", "for one client alone 2", "second 3"])
  #expect(!listener.hasEnded)

  fixture.service.close()
  #expect(fixture.loop.turn { listener.hasEnded })
}

@Test func signalSocket_closedByItsClient_makesRoomForAnother() throws {
  let fixture = try Fixture()
  var sockets = try (0..<16).map { _ in try fixture.service.openSignalSocket() }
  let error = #expect(throws: DBusError.self) { try fixture.service.openSignalSocket() }
  #expect(error?.name == .limitsExceeded)
  #expect(error?.message == "expected at most 16 sockets for signals, found another request")
  sockets.removeLast()
  try fixture.settle()
  let listener = try Listener(try fixture.service.openSignalSocket(), on: fixture.loop)
  try fixture.happen("now", 1)
  #expect(fixture.loop.turn { listener.received == ["now 1"] })
}

@Test func signalSocket_ofClientThatDoesNotRead_endsAfterWhatWasKept_andNobodyWaits() throws {
  let fixture = try Fixture()
  let unread = try fixture.service.openSignalSocket()
  var count: UInt64 = 0
  fixture.client.subscribe(to: Echo.happened) { arguments, _ in count = arguments.1 }
  let text = String(repeating: "x", count: 10_000)
  for serial in 1...UInt64(1000) {
    try fixture.happen(text, serial)
    if serial % 100 == 0 { try fixture.settle() }
  }
  #expect(count == 1000)
  let listener = try Listener(unread, on: fixture.loop)
  #expect(fixture.loop.turn { listener.hasEnded })
  #expect((1..<1000).contains(listener.received.count))
  #expect(listener.received == (1...listener.received.count).map { "\(text) \($0)" })
}

@Test func signalSocket_withSignalLargerThanAPacket_ends() throws {
  let fixture = try Fixture()
  let listener = try Listener(try fixture.service.openSignalSocket(), on: fixture.loop)
  try fixture.happen("before", 1)
  try fixture.happen(String(repeating: "x", count: 70_000), 2)
  try fixture.happen("after", 3)
  #expect(fixture.loop.turn { listener.hasEnded })
  #expect(listener.received == ["before 1"])
}

@Test func signalSocket_withWhatIsNoSignal_ends() throws {
  let fixture = try Fixture()
  let call = try OutgoingMessage.call("Echo", of: Echo.name, on: fixture.service.uniqueName, at: Echo.path)
  let signal = try Echo.happened.message(from: Echo.path, ("once", 1)).numbered
  for bytes in [[], [1, 2, 3], call.numbered, signal + signal, Array(signal.dropLast()), signal + [0]] {
    let (service, client) = try pair(SOCK_SEQPACKET)
    let listener = try Listener(client, on: fixture.loop)
    try #require(send(service.number, signal, signal.count, 0) == signal.count)
    try #require(send(service.number, bytes, bytes.count, 0) == bytes.count)
    #expect(fixture.loop.turn { listener.hasEnded })
    #expect(listener.received == ["once 1"], "\(bytes.count) bytes")
  }
}

@Test func signalSocket_ofAnotherKind_isRefused() throws {
  let fixture = try Fixture()
  var ends: [Int32] = [-1, -1]
  try #require(pipe(&ends) == 0)
  let (output, input) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
  let file = Descriptor(owning: open("/proc/self/exe", O_RDONLY | O_CLOEXEC))
  let stream = try pair(SOCK_STREAM).1
  // This socket is always ready to be read, and never has anything.
  let (_, datagrams) = try pair(SOCK_DGRAM)
  try #require(shutdown(datagrams.number, Int32(SHUT_RD)) == 0)
  let internet = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
  for (descriptor, code) in [
    (output, ENOTSOCK), (input, ENOTSOCK), (file, ENOTSOCK), (stream, EPROTOTYPE), (datagrams, EPROTOTYPE),
    (internet, EPROTOTYPE),
  ] {
    #expect(#expect(throws: SystemError.self) { try Listener(descriptor, on: fixture.loop) }?.code == code)
  }
}

@Test func signalSocket_withoutAnotherEnd_ends() throws {
  let fixture = try Fixture()
  let alone = Descriptor(owning: socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0))
  let listener = try Listener(alone, on: fixture.loop)
  #expect(fixture.loop.turn { listener.hasEnded })
}

@Test func signalSocket_receive_bringsAllThatIsThere() throws {
  let fixture = try Fixture()
  let listener = try Listener(try fixture.service.openSignalSocket(), on: fixture.loop)
  for serial in 1...200 { try fixture.happen("now", UInt64(serial)) }
  fixture.service.flush()
  listener.socket.receive()
  #expect(listener.received == (1...200).map { "now \($0)" })
}

@Test func signalSocket_whenClosed_bringsNothingMore_notEvenWhatIsThere() throws {
  let fixture = try Fixture()
  let listener = try Listener(try fixture.service.openSignalSocket(), on: fixture.loop)
  try fixture.happen("before", 1)
  #expect(fixture.loop.turn { !listener.received.isEmpty })
  listener.socket.close()
  try fixture.happen("after", 2)
  try fixture.settle()
  listener.socket.receive()
  #expect(listener.received == ["before 1"])
  #expect(!listener.hasEnded)
}
