import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The recipe for Quickshell, which needs a newer Qt than Debian 12 has: on Qt's real QML engine, with a stand-in for its types, and
// on Quickshell itself in `make check-desktops`.

/// The types of Quickshell that the recipe uses, as its documentation describes them.
private let standIn = """
  # Runs shell.qml. Prints the texts that are visible whenever they change, and clicks on the bar at SIGUSR1. It is not Quickshell.
  import signal, sys
  from PyQt6.QtCore import QEvent, QObject, QPointF, QProcess, Qt, QTimer, pyqtProperty, pyqtSignal, pyqtSlot
  from PyQt6.QtGui import QGuiApplication, QMouseEvent
  from PyQt6.QtQml import QQmlApplicationEngine, QQmlParserStatus, qmlRegisterType
  from PyQt6.QtQuick import QQuickWindow


  class SplitParser(QObject):
      read = pyqtSignal(str)


  class Process(QObject, QQmlParserStatus):
      exited = pyqtSignal(int, int)

      def __init__(self, parent=None):
          super().__init__(parent)
          self.process, self.values = QProcess(self), {"command": [], "running": False}
          self.rest = {"stdout": b"", "stderr": b""}
          self.process.readyReadStandardOutput.connect(
              lambda: self.received("stdout", self.process.readAllStandardOutput()))
          self.process.readyReadStandardError.connect(
              lambda: self.received("stderr", self.process.readAllStandardError()))
          self.process.finished.connect(lambda code, status: self.exited.emit(code, status.value))

      def received(self, stream, data):
          *lines, self.rest[stream] = (self.rest[stream] + bytes(data)).split(b"\\n")
          for line in lines:
              if self.values.get(stream):
                  self.values[stream].read.emit(line.decode())

      def classBegin(self):
          pass

      def componentComplete(self):
          program, *arguments = self.values["command"]
          if not self.values.get("stderr"):
              self.process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
          if self.values["running"]:
              self.process.start(program, arguments)

      def property(type, name):
          return pyqtProperty(
              type, lambda self: self.values.get(name), lambda self, value: self.values.__setitem__(name, value))

      command = property("QStringList", "command")
      running = property(bool, "running")
      stdinEnabled = property(bool, "stdinEnabled")
      stdout = property(SplitParser, "stdout")
      stderr = property(SplitParser, "stderr")

      @pyqtSlot(str)
      def write(self, text):
          self.process.write(text.encode())


  def windows():
      return [each for each in application.topLevelWindows() if isinstance(each, QQuickWindow) and each.isVisible()]


  def click(*_):
      point, left = QPointF(5, 5), Qt.MouseButton.LeftButton
      for kind in QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease:
          event = QMouseEvent(kind, point, point, left, left, Qt.KeyboardModifier.NoModifier)
          application.sendEvent(windows()[0], event)


  def look():
      global last
      texts = [item.property("text") for each in windows() for item in each.contentItem().childItems()]
      texts = [text for text in texts if text]
      if texts != last:
          print(*texts, sep=", ", flush=True)
      last = texts


  last = None
  application = QGuiApplication(sys.argv)
  qmlRegisterType(SplitParser, "Quickshell.Io", 1, 0, "SplitParser")
  qmlRegisterType(Process, "Quickshell.Io", 1, 0, "Process")
  engine = QQmlApplicationEngine()
  engine.addImportPath(sys.path[0])
  engine.load(sys.path[0] + "/shell.qml")
  if not engine.rootObjects():
      sys.exit(1)
  signal.signal(signal.SIGUSR1, click)
  timer = QTimer()
  timer.timeout.connect(look)
  timer.start(10)
  sys.exit(application.exec())
  """

private let standInTypes = [
  "Quickshell/qmldir": "module Quickshell\nPanelWindow PanelWindow.qml\nScope Scope.qml\n",
  "Quickshell/Scope.qml": "import QtQml\nQtObject { default property list<QtObject> children }\n",
  "Quickshell/PanelWindow.qml": """
  import QtQuick
  Window {
    component Edges: QtObject { property bool top; property bool left; property bool right }
    readonly property Edges anchors: Edges {}
    property int implicitWidth: 800
    property int implicitHeight: 100
    width: implicitWidth
    height: implicitHeight
    visible: true
  }
  """,
]

/// The shells of the recipe.
private func recipeShells() throws -> [String] {
  try Markdown("recipes/quickshell.md").blocks.filter { $0.kind == "qml" }.map(\.text)
}

/// Starts a shell on the stand-in.
private func startStandIn(
  _ shell: String, destinations: [String: String] = [:], files more: [String: String] = [:]
) throws -> (Session, Program) {
  var files = standInTypes.merging(more) { $1 }
  files["standin.py"] = standIn
  files["Navd.qml"] = try Files.text(inPackage: "docs/recipes/Navd.qml")
  files["shell.qml"] = shell
  let session = try Session(destinations: destinations, files: files)
  if more["bin/zenity"] != nil { try #require(chmod(session.path("bin/zenity"), 0o755) == 0) }
  session.environment["PATH"] = "\(session.path("bin")):\(Session.program("").dropLast()):/usr/bin:/bin"
  session.environment["QT_QPA_PLATFORM"] = "offscreen"
  session.environment["QT_QUICK_BACKEND"] = "software"
  return (session, try session.start(program: "/usr/bin/python3", [session.path("standin.py")]))
}

@Test(
  "The recipe for Quickshell, on a stand-in: what it serves is shown or refused, and it gets why its own request was")
func recipe_quickshell_serves() throws {
  let (session, shell) = try startStandIn(recipeShells()[1])
  func shows(_ text: String) throws {
    try session.poll("“\(text)” is shown, found \(shell.lines.last ?? "nothing"); \(shell.errorText)") {
      shell.lines.last == text
    }
  }
  try session.poll("it serves; \(shell.errorText)") {
    try session.navctl("destinations").outputText.contains("shop.item")
  }
  try session.runNavctl("present", "shop.item", "3", "--value", "count:=2")
  try shows("2 of 3")
  try session.runNavctl("update", "shop.item", "count:=5")
  try shows("now 5")
  let refused = try session.navctl("present", "shop.item", "three", "--value", "count:=2")
  #expect(refused.errorText == "navctl: present shop.item: “shop.item”: expected an id: Int, found “three”\n")
  shell.send(SIGUSR1)
  try shows("now 5, update shop.item: “shop.item”: expected count: Int, found “many”")
  // The item of the program that it refuses itself.
  let failed = try session.present("shop.item", "4", ["value": ["count": Value.int64(-1)].value])
  let (reason, result) = try session.ending(of: failed)
  #expect(reason == "failed" && "\(result)".contains("expected a count from 0"), "\(reason) \(result)")
  #expect(shell.status == nil && shell.errorText == "", "\(shell.errorText)")
}

@Test(
  "The programs in QML at the head of docs/dbus.md, on a stand-in, show what they promise",
  arguments: ["bar", "script", "presenter", "wait"])
func clientPage_inQML_shows(_ name: String) throws {
  let (session, shell) = try startStandIn(
    Markdown("dbus.md").files["\(name).qml"] ?? "",
    files: ["bin/zenity": "#!/bin/sh\nread answer <\"$HOME/answers\"; exit $answer\n"])
  func shows(_ text: String) throws {
    try session.poll("“\(text)” is shown, found \(shell.lines.last ?? "nothing"); \(shell.errorText)") {
      (shell.lines.last ?? "") == text
    }
  }
  switch name {
  case "presenter":
    try session.poll("it is registered; \(shell.errorText)") {
      try session.call(CoordinatorInterface.destinations, ()).map(\.fields.0).contains("calendar")
    }
    try session.runNavctl("toggle", "calendar")
    try shows("The calendar")
    try session.runNavctl("toggle", "calendar")
    try shows("")
  case "wait":
    let answers = try InputPipe(session, "answers")
    try session.poll("it is asked; \(shell.errorText)") {
      try session.state()["presentations"]?.array?.first?["phase"] == "presented"
    }
    #expect(answers.write("3"))
    try shows("closed 3")
  default:
    try shows("nothing")
    try session.call(CoordinatorInterface.select, ("panels", "mixer", .state))
    try shows("mixer")
  }
  #expect(shell.status == nil && shell.errorText == "", "\(shell.errorText)")
}

@Test("The recipe for Quickshell, on a stand-in: a panel takes turns with a program, follows clicks, and survives navd")
func recipe_quickshell_takesTurns() throws {
  let (session, shell) = try startStandIn(
    recipeShells()[0], destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"])
  func shows(_ texts: String, _ presented: String...) throws {
    try session.poll("“\(texts)” is shown, found \(shell.lines.last ?? "nothing"); \(shell.errorText)") {
      try shell.lines.last == texts
        && session.state()["presentations"]?.array?.map {
          "\($0["binding"]?.string ?? "") \($0["phase"]?.string ?? "")"
        }
          == presented.map { "\($0) presented" }
    }
  }
  try session.poll("it is registered; \(shell.errorText)") {
    try session.call(CoordinatorInterface.destinations, ()).map(\.fields.0).contains("calendar")
  }
  try shows("Calendar")
  try session.runNavctl("toggle", "calendar")
  try shows("[Calendar], The calendar", "calendar")
  try session.runNavctl("toggle", "mixer")
  try shows("Calendar", "mixer")
  shell.send(SIGUSR1)
  try shows("[Calendar], The calendar", "calendar")

  // The next navd asks for the panel again.
  try session.stop(SIGKILL)
  try session.start()
  try shows("[Calendar], The calendar", "calendar")
  shell.send(SIGUSR1)
  try shows("Calendar")

  // The shell hides its panel when “navctl presenter” has ended.
  shell.send(SIGUSR1)
  try shows("[Calendar], The calendar", "calendar")
  try session.runTool("/usr/bin/pkill", ["-KILL", "-P", "\(shell.processID)", "-f", "navctl presenter"])
  try shows("Calendar")
  #expect(shell.status == nil && shell.errorText == "", "\(shell.errorText)")
}

@Test(
  "The recipe for Quickshell, on Quickshell itself: a panel takes turns with a program, follows clicks, and stays when the shell is read anew",
  .enabled(if: access("/usr/bin/quickshell", X_OK) == 0, "make check-desktops has Quickshell"))
func recipe_quickshellItself_takesTurns() throws {
  let shell = try recipeShells()[0]
  let session = try Session(
    destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"], desktop: .sway,
    files: [
      "config/quickshell/Navd.qml": Files.text(inPackage: "docs/recipes/Navd.qml"),
      "config/quickshell/shell.qml": shell,
    ])
  let pointer = try WaylandKeyboard(session)
  let quickshell = try session.start(
    program: "/usr/bin/env",
    ["QT_QPA_PLATFORM=wayland", "QT_QUICK_BACKEND=software", "/usr/bin/quickshell", "--no-color"])
  func shows(_ presented: String...) throws {
    try session.poll("\(presented) are presented; \(quickshell.outputText)") {
      try session.state()["presentations"]?.array?.map { "\($0["binding"]?.string ?? "") \($0["phase"]?.string ?? "")" }
        == presented.map { "\($0) presented" }
    }
  }
  func clickOnTheBar() throws {
    try pointer.point(640, 15)
    try pointer.click()
  }
  try session.poll("it is registered; \(quickshell.outputText)") {
    try session.call(CoordinatorInterface.destinations, ()).map(\.fields.0).contains("calendar")
  }
  try session.runNavctl("toggle", "calendar")
  try shows("calendar")
  try session.runNavctl("toggle", "mixer")
  try shows("mixer")
  try clickOnTheBar()
  try shows("calendar")

  // The user of the shell saves its file.
  try session.write(shell + "// saved\n", to: "config/quickshell/shell.qml")
  try session.wait("it is read anew; \(quickshell.outputText)") {
    quickshell.lines.filter { $0.contains("Configuration Loaded") }.count == 2
  }
  try shows("calendar")
  try clickOnTheBar()
  try shows()
  #expect(quickshell.status == nil)
}
