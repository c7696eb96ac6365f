import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The two ways of an adapter's signals: the bus, and a socket (AcquireSignals).

private typealias Rows = CoordinatorInterface

/// Makes a socket as navd-windows does.
private func directly(if isOffered: Bool = true) -> ((Connection) throws -> Descriptor)? {
  guard isOffered else { return nil }
  return { try $0.openSignalSocket() }
}

@Suite struct WindowSignalTests {
  @Test("with a socket, only signals by it count: a signal by the bus changes nothing", arguments: [false, true])
  func signals_ofAdapterWithSocket_comeByItAlone(hasSocket: Bool) throws {
    let files = try FollowedCommand(socket: directly(if: hasSocket))
    let path = try files.show()
    // Only navd receives this signal, and not by the socket.
    try files.adapter.connection.emit(
      WindowSystemInterface.closed, from: WindowSystemInterface.object, to: CoordinatorNames.bus,
      ("w1", files.adapter.serial + 1))
    guard hasSocket else {
      #expect(try files.session.ending(of: path).reason == "closed")
      return
    }
    files.adapter.change("w1") { $0.title = "Documents" }
    try files.session.poll("the title is known") {
      let windows = StateEntry(try files.session.call(Rows.get, "files").1).windows
      return windows?.first?["title"] == .string("Documents")
    }
    #expect(try files.phase() == "presented")
    #expect(files.adapter.socketRequests == 1)
    #expect(files.adapter.reads == 1)
  }

  @Test("U3: an output that is unplugged is known before its windows move, also by a socket")
  func output_unplugged_isKnownBeforeItsWindowsMove() throws {
    let files = try FollowedCommand(more: "output-gone = 'dismiss'", socket: directly())
    let (path, pid) = try files.present()
    files.adapter.open(Window("w1", pid: pid, output: "two"))
    #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
    let changed: Properties = [WindowSystemInterface.outputs.name.text: ["one"].value]
    try files.adapter.connection.emit(
      PropertyAccessing.propertiesChanged, from: WindowSystemInterface.object,
      (WindowSystemInterface.name.text, changed, []))
    files.adapter.change("w1") { $0.output = "one" }
    #expect(try files.session.ending(of: path).reason == "output-gone")
  }

  @Test(
    "U1: the output that gets the focus while navd reads all windows is the one that counts", arguments: [false, true])
  func output_gettingFocusWhileAllIsRead_counts(hasSocket: Bool) throws {
    let files = try FollowedCommand(
      "echo $NAVD_OUTPUT >>$NAVD_TEST_JOURNAL; exec sleep 1000", socket: directly(if: hasSocket))
    let adapter = try #require(files.adapter)
    // navd has read the properties, and not yet the windows.
    adapter.beforeRead = { [unowned adapter] in adapter.focusedOutput = "two" }
    try files.session.runNavctl("present", "files", "--output", "focused")
    try files.session.wait("the command has its output") { !files.session.journalLines.isEmpty }
    #expect(files.session.journalLines == ["two"])
  }

  @Test("without its socket, navd reads all windows again and receives the signals by the bus")
  func socket_thatEnds_isReplacedByTheBus() throws {
    let files = try FollowedCommand(socket: directly())
    let path = try files.show()
    // The title does not fit into a packet.
    files.adapter.change("w1") { $0.title = String(repeating: "x", count: 70_000) }
    try files.session.poll("the title is known") {
      let title = StateEntry(try files.session.call(Rows.get, "files").1).windows?.first?["title"]
      return title == .string(String(repeating: "x", count: 1024))
    }
    #expect(files.adapter.reads == 2)
    #expect(files.adapter.socketRequests == 1)
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("an adapter that tells long ids, parents and outputs makes neither navd nor an item large")
  func texts_ofAdapter_haveALimit() throws {
    let files = try FollowedCommand()
    let path = try files.show()
    let pid = try files.pid()
    let long = String(repeating: "x", count: 1 << 16)
    files.adapter.open(Window(long, pid: pid))
    files.adapter.open(Window("dialog", parent: long, output: long))
    files.adapter.change("w1") { $0.output = long }
    files.adapter.open(Window("last", pid: pid, output: long))
    try files.session.poll("the last window is known") { try files.windows().contains("last") }
    let entry = StateEntry(try files.session.call(Rows.get, "files").1)
    #expect(try files.windows() == ["w1", "last"])
    #expect(entry.windows?.allSatisfy { $0["output"] == nil } == true)
    // The limit is the same when all windows are read.
    files.adapter.lose { $0.append(Window("later", pid: pid, output: long)) }
    files.adapter.change("last") { $0.title = "Last" }
    try files.session.poll("the later window is known") { try files.windows().contains("later") }
    let later = StateEntry(try files.session.call(Rows.get, "files").1)
    #expect(try files.windows() == ["w1", "last", "later"])
    #expect(later.windows?.allSatisfy { $0["output"] == nil } == true)
    for id in ["w1", "last", "later"] { files.adapter.close(id) }
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test(
    "an adapter that gives no real socket, or closes it, is followed by the bus, and not asked again and again")
  func socket_thatIsNone_isReplacedByTheBus() throws {
    let sockets: [(Connection) throws -> Descriptor] = [
      { _ in Descriptor(owning: open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) },
      { _ in
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        close(ends[0])
        return Descriptor(owning: ends[1])
      },
      { _ in throw DBusError(name: .limitsExceeded, message: "no more") },
    ]
    for socket in sockets {
      let files = try FollowedCommand(socket: socket)
      let path = try files.show()
      files.adapter.close("w1")
      #expect(try files.session.ending(of: path).reason == "closed")
      #expect(files.adapter.socketRequests == 1)
      #expect(files.adapter.reads <= 2)
    }
  }

  @Test(
    "signals of an adapter from before it leaves count, though navd hears of its leaving at the same time",
    arguments: [1, 200])
  func signals_beforeAdapterLeaves_count(count: Int) throws {
    let files = try FollowedCommand(socket: directly())
    let path = try files.show()
    let navd = try #require(files.session.navd)
    navd.send(SIGSTOP)
    for number in 0..<count { files.adapter.change("w1") { $0.title = "title \(number)" } }
    files.adapter.close("w1")
    files.adapter.connection.close()
    navd.send(SIGCONT)
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test(
    "an adapter that gives reasons to read all windows without end is read once at a time",
    arguments: [false, true])
  func adapter_changingPropertiesWithoutEnd_isReadOnceAtATime(hasSocket: Bool) throws {
    let files = try FollowedCommand(socket: directly(if: hasSocket))
    let path = try files.show()
    files.adapter.isSilent = true
    let reads = files.adapter.reads
    for _ in 0..<100 {
      files.adapter.connection.propertyChanged(WindowSystemInterface.object, WindowSystemInterface.backend)
      // This call shows that navd has received the change.
      _ = try files.phase()
    }
    try files.session.wait("it is read") { files.adapter.reads > reads }
    #expect(files.adapter.reads == reads + 1)
    files.adapter.answer()
    try files.session.wait("it is read once more") { files.adapter.reads == reads + 2 }
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("an adapter that comes back is asked for a socket again")
  func adapter_thatComesBack_isAskedForSocketAgain() throws {
    let files = try FollowedCommand(socket: directly())
    let path = try files.show()
    let (windows, serial) = (files.adapter.windows, files.adapter.serial)
    files.adapter.connection.close()
    try files.session.wait("navd has noticed") { files.session.navd?.errorText.contains("has left the bus") == true }
    files.adapter = try ScriptedWindowSystem(files.session, windows, socket: directly())
    try files.session.wait("it is asked") { files.adapter.socketRequests == 1 }
    #expect(serial == 1)
    files.adapter.close("w1")
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("after the last presentation that follows windows, the socket is closed; the next one asks for another")
  func adapter_notNeeded_losesItsClient() throws {
    let files = try FollowedCommand(window: "window = { leftover = 'end' }", socket: directly())
    for round in 1...20 {
      let (path, pid) = try files.present()
      files.adapter.open(Window("w\(round)", appID: "files", pid: pid))
      #expect(try files.session.call(Rows.wait, (path, "presented")).0 == "")
      files.adapter.close("w\(round)")
      #expect(try files.session.ending(of: path).reason == "closed")
      try files.session.poll("its process has ended") { kill(pid_t(pid), 0) != 0 }
    }
    // An adapter has fewer sockets than this at a time.
    #expect(files.adapter.socketRequests == 20)
  }
}
