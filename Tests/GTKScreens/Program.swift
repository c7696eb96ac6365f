import CGTK
import Dispatch
import Glibc
import Navigation
import NavigationGTK
import Observation

/// A program that tests start on a private desktop. It reads changes of its state from its standard input, and writes its state on
/// its standard output.
@main @MainActor
final class Program {
  private let model = Model()
  private let live = LiveObjects()
  private let navigator: Navigator
  private var unread: [UInt8] = []
  /// Resumed when a screen appears.
  private var waiting: CheckedContinuation<Void, Never>?

  static func main() {
    do {
      try MainLoop.run(adwaita: !CommandLine.arguments.contains("--plain")) {
        let isEmbedded = CommandLine.arguments.contains("--embedded")
        let coordinator = isEmbedded ? Coordinator.embedded() : try await Coordinator.session()
        await Program(coordinator).run()
      }
    } catch {
      write("\(error)")
      exit(1)
    }
  }

  init(_ coordinator: Coordinator) { navigator = Navigator(coordinator) }

  private func run() async {
    let screens = Screens(model: model, live: live) { [unowned self] in
      waiting?.resume()
      waiting = nil
    }
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    navigator.present(
      isPresented: Bindable(model, .shared("screens")).isOpen, onDismiss: { end.finish() }, content: screens.main)
    let writing = observe { [model] in MainActor.assumeIsolated { write("state \(model.description)") } }
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    input.setEventHandler { [unowned self] in MainActor.assumeIsolated { read() } }
    input.resume()
    for await _ in ends {}
    await navigator.settle()
    writing.cancel()
    input.cancel()
    write("end \(counts)")
  }

  // MARK: Commands

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else { return model.isOpen = false }
    unread += buffer[..<count]
    while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
      execute(String(decoding: unread[..<end], as: UTF8.self))
      unread.removeSubrange(...end)
    }
  }

  private func execute(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    let number = words.count > 1 ? Int(words[1]) : nil
    switch words.first {
    case "sheet": model.sheet = number.map { Model.Sheet(id: $0, text: "sheet \($0)") }
    case "note": model.note = number.map { Model.Sheet(id: $0, text: "") }
    case "form": model.form = number.map { Model.Form(id: $0) }
    case "name": model.form?.name = words[1]
    case "number": model.form?.number = Double(number ?? 0)
    case "focus": model.focus = words.count > 1 ? Model.Field(rawValue: words[1]) : nil
    case "hint": model.isHinted = words[1] == "true"
    case "dialog": model.dialog = words.count > 1 ? question(words[1]) : nil
    case "path":
      // The path changes without an animation, since a click on a moving page would miss.
      withTransaction(Transaction(animated: false)) { model.path = words.dropFirst().compactMap { Int($0) } }
    case "panel": model.panel = words.count > 1 ? Model.Panel(rawValue: words[1]) : nil
    case "twin": model.twin = true
    case "otherTwin": model.otherTwin = true
    case "destroy": live.destroy(window: words.dropFirst().joined(separator: " "))
    case "remove": live.remove(words[1])
    case "respond": live.respond(with: number ?? 0)
    case "where": write("where \(place(of: words[1]))")
    case "count": write("count \(counts)")
    case "rows": Task { await rows(number ?? 0) }
    case "rounds":
      let kinds = words.dropFirst(2).compactMap { Int($0) }
      Task { await rounds(number ?? 0, of: kinds.isEmpty ? Array(0...5) : kinds) }
    default: write("unknown command \(line)")
    }
  }

  private func question(_ title: String) -> Dialog<Model.Answer> {
    Dialog(title) {
      Dialog.Button("Keep", role: .cancel)
      Dialog.Button("Delete", role: .destructive, action: Model.Answer.delete)
    }
  }

  /// The counts of widgets in windows, living widgets and living screens, and the types of living widgets in no window.
  private var counts: String {
    "windows=\(live.scan()) alive=\(live.widgets) screens=\(live.screens) \(live.strays.joined(separator: " "))"
  }

  /// Connects buttons of the main window that are gone at once, and writes how many of their handlers are left.
  private func rows(_ count: Int) async {
    final class Row {}
    guard let showing = navigator.visible.first else { return write("rows none") }
    var rows: [() -> Row?] = []
    for _ in 0..<count {
      let row = Row()
      let button = WidgetOwner(gtk_button_new())
      rows.append { [weak row] in row }
      showing.connect(button.widget, "clicked") { _ = row }
    }
    for _ in 0..<1000 where rows.contains(where: { $0() != nil }) { await Task.yield() }
    write("rows \(rows.count { $0() != nil })")
  }

  /// The middle of a widget in its window, whether the pointer is on it, and the title of the window.
  private func place(of name: String) -> String {
    // A widget has no size before its first frame.
    guard let widget = live.widget(name), gtk_widget_get_width(widget) > 0, let root = gtk_widget_get_root(widget)
    else { return "nowhere" }
    let window = UnsafeMutableRawPointer(root)
    // A key that is pressed now would reach another window.
    guard gtk_window_is_active(window.assumingMemoryBound(to: GtkWindow.self)) != 0 else { return "nowhere" }
    var bounds = graphene_rect_t()
    _ = gtk_widget_compute_bounds(widget, window.assumingMemoryBound(to: GtkWidget.self), &bounds)
    let x = Int(bounds.origin.x + bounds.size.width / 2)
    let y = Int(bounds.origin.y + bounds.size.height / 2)
    let title = gtk_window_get_title(window.assumingMemoryBound(to: GtkWindow.self))
    let isHovered = gtk_widget_get_state_flags(widget).rawValue & GTK_STATE_FLAG_PRELIGHT.rawValue != 0
    return "\(x) \(y) \(isHovered) \(title.map { String(cString: $0) } ?? "")"
  }

  /// Presents and dismisses every kind of screen in turns, and writes how many objects are left.
  /// - Parameter kinds: the kinds of screens to show, of 0 to 5.
  private func rounds(_ count: Int, of kinds: [Int]) async {
    let before = (counts, memory)
    for round in 0..<count {
      await withCheckedContinuation { continuation in
        waiting = continuation
        switch kinds[round % kinds.count] {
        case 0: model.sheet = Model.Sheet(id: round, text: "sheet \(round)")
        case 1: model.note = Model.Sheet(id: round, text: "")
        case 2: model.isHinted = true
        case 3: model.path = [round]
        case 4: model.dialog = question("Sure?")
        default: model.panel = .help
        }
      }
      await navigator.settle()
      live.scan()
      (model.sheet, model.note, model.isHinted, model.path) = (nil, nil, false, [])
      (model.dialog, model.panel) = (nil, nil)
      await navigator.settle()
    }
    write("rounds \(count): before: \(before.0) \(before.1) KiB, after: \(counts) \(memory) KiB")
  }

  /// The private memory of the program. Memory that it shares with the compositor does not count: GTK 4.8 leaks a buffer with each
  /// window that it draws by cairo.
  private var memory: Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while let text = fgets(&line, CInt(line.count), file) {
      let words = String(cString: text).split { $0 == " " || $0 == "\t" }
      if words.first == "RssAnon:", words.count > 1 { return Int(words[1]) ?? 0 }
    }
    return 0
  }
}

/// Writes a line at once, even into a pipe.
private func write(_ line: String) {
  print(line)
  fflush(nil)
}
