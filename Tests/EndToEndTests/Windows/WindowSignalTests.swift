import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// What an adapter's signals may say, and when.

private typealias Rows = CoordinatorInterface

@Suite struct WindowSignalTests {
  @Test("U3: an output that is unplugged is known before its windows move")
  func output_unplugged_isKnownBeforeItsWindowsMove() throws {
    let files = try FollowedCommand(more: "output-gone = 'dismiss'")
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

  @Test("U1: the output that gets the focus while navd reads all windows is the one that counts")
  func output_gettingFocusWhileAllIsRead_counts() throws {
    let files = try FollowedCommand("echo $NAVD_OUTPUT >>$NAVD_TEST_JOURNAL; exec sleep 1000")
    let adapter = try #require(files.adapter)
    // navd has read the properties, and not yet the windows.
    adapter.beforeRead = { [unowned adapter] in adapter.focusedOutput = "two" }
    try files.session.runNavctl("present", "files", "--output", "focused")
    try files.session.wait("the command has its output") { !files.session.journalLines.isEmpty }
    #expect(files.session.journalLines == ["two"])
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
    "signals of an adapter from before it leaves count, though navd hears of its leaving at the same time",
    arguments: [1, 200])
  func signals_beforeAdapterLeaves_count(count: Int) throws {
    let files = try FollowedCommand()
    let path = try files.show()
    let navd = try #require(files.session.navd)
    navd.send(SIGSTOP)
    for number in 0..<count { files.adapter.change("w1") { $0.title = "title \(number)" } }
    files.adapter.close("w1")
    files.adapter.connection.close()
    navd.send(SIGCONT)
    #expect(try files.session.ending(of: path).reason == "closed")
  }

  @Test("an adapter that gives reasons to read all windows without end is read once at a time")
  func adapter_changingPropertiesWithoutEnd_isReadOnceAtATime() throws {
    let files = try FollowedCommand()
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
}
