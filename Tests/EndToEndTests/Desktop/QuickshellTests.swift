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
  import json, signal, subprocess, sys
  from PyQt6.QtCore import QEvent, QObject, QPointF, QProcess, Qt, QTimer, pyqtProperty, pyqtSignal, pyqtSlot
  from PyQt6.QtGui import QGuiApplication, QMouseEvent
  from PyQt6.QtQml import QQmlApplicationEngine, QQmlParserStatus, qmlRegisterSingletonInstance, qmlRegisterType
  from PyQt6.QtQuick import QQuickWindow


  class SplitParser(QObject):
      read = pyqtSignal(str)


  class Process(QObject, QQmlParserStatus):
      def __init__(self, parent=None):
          super().__init__(parent)
          self.process, self.values, self.rest = QProcess(self), {"command": [], "running": False}, b""
          self.process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
          self.process.readyReadStandardOutput.connect(self.received)

      def received(self):
          *lines, self.rest = (self.rest + bytes(self.process.readAllStandardOutput())).split(b"\\n")
          for line in lines:
              self.values["stdout"].read.emit(line.decode())

      def classBegin(self):
          pass

      def componentComplete(self):
          program, *arguments = self.values["command"]
          if self.values["running"]:
              self.process.start(program, arguments)

      def property(type, name):
          return pyqtProperty(
              type, lambda self: self.values.get(name), lambda self, value: self.values.__setitem__(name, value))

      command = property("QStringList", "command")
      running = property(bool, "running")
      stdinEnabled = property(bool, "stdinEnabled")
      stdout = property(SplitParser, "stdout")

      @pyqtSlot(str)
      def write(self, text):
          self.process.write(text.encode())


  class Quickshell(QObject):
      @pyqtSlot("QStringList")
      def execDetached(self, command):
          subprocess.Popen(command)


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
  quickshell = Quickshell()
  qmlRegisterSingletonInstance("Quickshell", 1, 0, "Quickshell", quickshell)
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

@Test("The recipe for Quickshell, on a stand-in: a panel takes turns with a program, follows clicks, and survives navd")
func recipe_quickshell_takesTurns() throws {
  var files = standInTypes
  files["standin.py"] = standIn
  files["Navd.qml"] = try Files.text(inPackage: "docs/recipes/Navd.qml")
  files["shell.qml"] = try #require(Markdown("recipes/quickshell.md").blocks.first { $0.kind == "qml" }).text
  let session = try Session(
    destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"], files: files)
  session.environment["PATH"] = "\(Session.program("").dropLast()):/usr/bin:/bin"
  session.environment["QT_QPA_PLATFORM"] = "offscreen"
  session.environment["QT_QUICK_BACKEND"] = "software"
  let shell = try session.start(program: "/usr/bin/python3", [session.path("standin.py")])
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
  #expect(shell.status == nil && shell.errorText == "", "\(shell.errorText)")
}

@Test(
  "The recipe for Quickshell, on Quickshell itself: a panel takes turns with a program, follows clicks, and stays when the shell is read anew",
  .enabled(if: access("/usr/bin/quickshell", X_OK) == 0, "make check-desktops has Quickshell"))
func recipe_quickshellItself_takesTurns() throws {
  let shell = try #require(Markdown("recipes/quickshell.md").blocks.first { $0.kind == "qml" }).text
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
