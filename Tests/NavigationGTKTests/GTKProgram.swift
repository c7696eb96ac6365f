import EventLoops
import Glibc
import TestSupport
import TextFormats

/// A program with GTK on a headless sway, with a keyboard and a pointer for it: for tests of NavigationGTK as its users meet it.
final class GTKProgram {
  let session: Session
  let keyboard: WaylandKeyboard
  let program: Program
  private let windows: Program
  private let commands: InputPipe

  /// - Parameters:
  ///   - name: the program.
  ///   - arguments: its arguments.
  ///   - isPlain: whether it has GTK's own look, and no libadwaita.
  ///   - configuration: further lines of sway's configuration.
  /// - Throws: `Session.Failure`.
  init(
    _ name: String, _ arguments: [String] = [], isPlain: Bool = false, configuration: String = "",
    file: String = #fileID, function: String = #function
  ) throws {
    session = try Session(
      desktop: .sway, configuration: "default_border none\n\(configuration)", file: file, function: function)
    session.environment.merge(["GDK_BACKEND": "wayland", "GSK_RENDERER": "cairo", "GTK_A11Y": "none"]) { $1 }
    keyboard = try WaylandKeyboard(session)
    windows = try session.start(
      program: "/usr/bin/swaymsg", ["-m", "-t", "subscribe", #"["window","tick"]"#])
    let windows = windows
    // A new subscriber to ticks is sent one immediately.
    try session.wait("sway reports windows") { !windows.lines.isEmpty }
    session.installProgram(name)
    commands = try InputPipe(session, "commands")
    program = try session.start(
      program: "/bin/sh",
      ["-c", "exec \"$0\" \"$@\" <\"$HOME/commands\"", session.executable(name)] + arguments
        + (isPlain ? ["--plain"] : []))
  }

  // MARK: Its state

  /// Sends a line to the program.
  func send(_ command: String) { commands.write(command) }

  /// Sends a line, and waits until a state that the program has written since has all these parts.
  func send(_ command: String, untilState state: String...) throws {
    let count = program.lines.count
    send(command)
    try wait(for: state, after: count)
  }

  /// Waits until the last state that the program has written has all these parts.
  func wait(for state: String...) throws { try wait(for: state, after: 0) }

  private func wait(for state: [String], after count: Int) throws {
    let program = program
    func isReached() -> Bool {
      let last = program.lines.dropFirst(count).last { $0.hasPrefix("state ") } ?? ""
      return state.allSatisfy { last.contains($0) }
    }
    try explaining { try session.wait("the state is \(state)") { isReached() || program.hasEnded } }
    guard isReached() else {
      throw Session.Failure("expected the state \(state), found the end of the program\n\(program.errorText)")
    }
  }

  /// Waits until the program has ended, and its last line is this; nil if it writes none.
  func wait(untilEnd line: String?) throws {
    let program = program
    try explaining { try session.wait("the program has ended") { program.hasEnded } }
    guard program.lines.last == line, complaints.isEmpty else {
      throw Session.Failure(
        "expected \(line ?? "nothing"), found \(program.lines.last ?? "nothing")\n\(program.errorText)")
    }
  }

  /// Sends a command to the program, and returns its answer: the rest of the line that begins with the same word.
  func ask(_ command: String, within limit: Duration = Session.limit) throws -> String {
    let (count, program) = (program.lines.count, program)
    let word = command.prefix { $0 != " " }
    send(command)
    var answer: String?
    try session.wait("an answer to \(command)", within: limit) {
      answer = program.lines.dropFirst(count).first { $0.hasPrefix(word + " ") }
      return answer != nil
    }
    return String((answer ?? "").dropFirst(word.count + 1))
  }

  /// The messages of GTK about mistakes of the program, from its standard error.
  var complaints: [Substring] { program.errorText.split(separator: "\n").filter { $0.contains("CRITICAL") } }

  /// Adds the messages of the program and of the compositor to an error.
  private func explaining(_ body: () throws -> Void) throws {
    do { try body() } catch {
      let said = program.lines.filter { !$0.hasPrefix("where nowhere") }.joined(separator: "\n")
      throw Session.Failure("\(error)\nit has written:\n\(said)\n\(program.errorText)\nsway: \(events)")
    }
  }

  /// The number of times that the main thread of the program goes to sleep during this time. The thread of libdispatch's manager
  /// does not count: in every program with Swift's tasks it wakes up each second, to count the threads that run.
  func wakeUps(during time: Duration) throws -> Int {
    func count() -> Int {
      let path = "/proc/\(program.processID)/task/\(program.processID)/status"
      let lines = String(decoding: Files.contents(of: path), as: UTF8.self).split(separator: "\n")
      let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }
    let (before, end) = (count(), session.loop.now + time)
    while session.loop.now < end { session.loop.turn(wait: end - session.loop.now) }
    guard before > 0 else { throw Session.Failure("the program has ended") }
    return count() - before
  }

  // MARK: Its windows

  /// The events of windows that sway has reported: `new Sheet 1`, `close Sheet 1`, `focus Main`. A window may get its title after
  /// it is new.
  var events: [String] {
    let reports = windows.lines.compactMap { line -> (change: String, window: JSON)? in
      guard let event = try? JSON.parse(line), let window = event["container"] else { return nil }
      return event["change"]?.string.map { ($0, window) }
    }
    var titles: [Int: String] = [:]
    for (_, window) in reports {
      if let id = window["id"]?.int, let title = window["name"]?.string { titles[id] = title }
    }
    return reports.map { "\($0.change) \(titles[$0.window["id"]?.int ?? 0] ?? "")" }
  }

  /// The titles of the open windows, in the order in which they were opened.
  var titles: [String] {
    events.reduce(into: []) { titles, event in
      if event.hasPrefix("new ") { titles.append(String(event.dropFirst(4))) }
      if event.hasPrefix("close "), let index = titles.lastIndex(of: String(event.dropFirst(6))) {
        titles.remove(at: index)
      }
    }
  }

  /// Waits until these windows are open, and the last one has the focus.
  func wait(windows titles: String...) throws {
    try explaining {
      try session.wait("the windows are \(titles)") {
        self.titles == titles && events.last { $0.hasPrefix("focus ") } == titles.last.map { "focus \($0)" }
      }
    }
  }

  /// Waits until a widget is in the window with the keyboard, by its name, its style class or its title.
  func wait(untilShown widget: String) throws {
    try explaining { try session.poll("\(widget) is shown") { try ask("where \(widget)") != "nowhere" } }
  }

  /// Waits until a widget is not in the window with the keyboard.
  func wait(untilGone widget: String) throws {
    try explaining { try session.poll("\(widget) is gone") { try ask("where \(widget)") == "nowhere" } }
  }

  /// Waits until there are this many windows, and the last one has the focus. The dialogs of some releases of GTK have a title.
  func wait(windows count: Int) throws {
    try explaining {
      try session.wait("there are \(count) windows") {
        titles.count == count && events.last { $0.hasPrefix("focus ") } == titles.last.map { "focus \($0)" }
      }
    }
  }

  // MARK: Its user

  /// Clicks on a button, by its name, its style class or its title. A window that has just appeared misses a click before it knows
  /// of the pointer.
  func click(on button: String) throws {
    try wait(untilShown: button)
    try explaining {
      try session.poll("the pointer is on \(button)") {
        let place = try ask("where \(button)").split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard place.count == 4, let x = Int(place[0]), let y = Int(place[1]),
          let corner = try corner(of: String(place[3]))
        else { return false }
        if place[2] == "true" { return true }
        try keyboard.point(corner.x + x, corner.y + y)
        return false
      }
    }
    try keyboard.click()
  }

  /// The place of a window on the screen; nil if sway has no such window.
  private func corner(of title: String) throws -> (x: Int, y: Int)? {
    func find(_ node: JSON) -> JSON? {
      if node["app_id"]?.string != nil, node["name"]?.string ?? "" == title { return node }
      return [node["nodes"], node["floating_nodes"]].lazy.flatMap { $0?.array ?? [] }.compactMap(find).first
    }
    let tree = try session.run(program: "/usr/bin/swaymsg", ["-t", "get_tree"])
    let rectangle = find(try JSON.parse(tree.outputText))?["rect"]
    guard let x = rectangle?["x"]?.int, let y = rectangle?["y"]?.int else { return nil }
    return (x, y)
  }
}

extension JSON {
  fileprivate var int: Int? { if case .integer(let number) = self { Int(number) } else { nil } }
}
