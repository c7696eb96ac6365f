import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import Processes
import SessionFiles
import TextFormats

/// Reads `NAME.toml`, which says how items of the destination `NAME` are shown.
enum DestinationFile {
  /// Reads a file's text.
  /// - Parameters:
  ///   - name: the destination's name, valid by `Destination.isName`.
  ///   - path: the file's path, for faults and as the destination's source.
  /// - Throws: every mistake, in the order of the file; the first one if the text is not TOML.
  static func read(
    _ text: [UInt8], name: String, path: String, applications: InstalledApplications = InstalledApplications()
  ) throws(FileFaults) -> Destination {
    var reader: TableReader
    do {
      reader = TableReader(
        try TOMLParser.document(text, file: path), name: "a destination", file: path,
        advice: TableReader.adviceOfDestination)
    } catch {
      throw FileFaults(all: [error])
    }
    var destination = Destination(name: name, presenter: .none, source: .file(path: path))
    let application = reader.application(in: applications)
    if let presenter = reader.presenter(of: application) { destination.presenter = presenter }
    destination.group = reader.group(of: destination)
    destination.style = reader.value(.style) { text throws(TableReader.Invalid) in
      let maxBytes = Limits().text
      guard !text.isEmpty, text.utf8.count <= maxBytes else {
        throw TableReader.Invalid("expected 1 to \(maxBytes) bytes, found \(text.utf8.count)")
      }
      return text
    }
    destination.isProtected = reader.isProtected(destination)
    destination.window = reader.window(of: destination, application)
    let (endsUnfocused, endsWithOutput, hides) = (
      reader.word(.unfocus, ["keep", "dismiss"], of: destination, because: "only windows have the focus"),
      reader.word(.outputGone, ["keep", "dismiss"], of: destination, because: "only windows are on outputs"),
      reader.word(.dismissal, ["close", "hide"], of: destination, because: "only windows can be hidden")
    )
    destination.window?.endsUnfocused = endsUnfocused
    let comesHere = reader.comesHere(destination)
    destination.window?.comesHere = comesHere
    destination.window?.endsWithOutput = endsWithOutput
    destination.window?.hides = hides
    destination.itemSettings = reader.itemSettings(of: destination, application)
    let startTimeout = reader.duration(.startTimeout)
    destination.startTimeout = startTimeout ?? Destination.defaultStartTimeout
    destination.isStartTimeoutWritten = startTimeout != nil
    destination.grace = reader.duration(.grace) ?? Destination.defaultGrace
    reader.checkSettling(of: destination)
    let faults = reader.finish()
    guard faults.isEmpty else { throw FileFaults(all: faults) }
    return destination
  }
}

extension TableReader {
  /// Reads the desktop file of the application that the file names; nil if it names none, or one that is not there.
  fileprivate mutating func application(in installed: InstalledApplications) -> Application? {
    let action = text(.desktopAction)
    let key = DestinationKey.desktop
    guard let node = node(key) else {
      if action != nil { fault(.desktopAction, needs: "“desktop”, the application whose action it is") }
      return nil
    }
    guard case .string(let id) = node.content else {
      expected("a string such as \(key.rawValue) = \(key.example)", at: key.rawValue, found: node)
      return nil
    }
    do throws(Application.Mistake) {
      return try Application(id, action: action, in: installed)
    } catch {
      fault(node.position, "“desktop”: \(error.why)")
      return nil
    }
  }

  /// Reports a window that settles for so long that its item would always fail.
  fileprivate mutating func checkSettling(of destination: Destination) {
    guard let settle = destination.window?.settle, settle > 0, let limit = destination.startLimit, settle >= limit
    else { return }
    fault(
      (node(.startTimeout) ?? node(.window))?.position,
      "“settle” takes all of “start-timeout” (\(limit) ms), so no item would be presented in time; use a longer “start-timeout”"
    )
  }

  fileprivate mutating func presenter(of application: Application?) -> Destination.Presenter? {
    let given = [DestinationKey.command, .desktop, .unit, .bus]
      .compactMap { key in take(key.rawValue).map { (key: key, node: $0) } }
      .sorted { $0.node.position < $1.node.position }
    for other in given.dropFirst() {
      fault(
        other.node.position,
        "expected one of “command”, “desktop”, “unit”, “bus” and “state”, found “\(other.key.rawValue)” after "
          + "“\(given[0].key.rawValue)” (line \(given[0].node.position.line))")
    }
    let scope = scope(ofCommand: given.first.map { $0.key == .command || $0.key == .desktop } ?? false)
    if bool(DestinationKey.state.rawValue, default: false) == true, let presenter = given.first {
      fault(
        presenter.node.position,
        "expected only one of “state” and “\(presenter.key.rawValue)”: with state = true no program shows the items")
    }
    switch given.first?.key {
    case .command: return given.first.flatMap { command(.command, $0.node) }.map { .command($0, scope: scope) }
    case .desktop:
      if let application, let node = given.first?.node {
        checkSize(of: application.arguments, DestinationKey.desktop.rawValue, node.position)
      }
      // The arguments of a desktop file are not templates.
      return application.map { .command($0.arguments.map { BracedText.escaped($0.utf8) }, scope: scope) }
    case .unit: return unit()
    case .bus: return given.first.flatMap { bus($0.node) }
    default: return nil
    }
  }

  private mutating func scope(ofCommand isOfCommand: Bool) -> CommandScope {
    let scope: CommandScope? = choice(.scope)
    if scope != nil, !isOfCommand {
      fault(node(.scope)?.position, "“scope” needs a “command”: it says which of its processes belong to the item")
    }
    return scope ?? .tree
  }

  /// A program and its arguments, as written in the file.
  private mutating func command(_ key: DestinationKey, _ node: TOMLNode) -> [[UInt8]]? {
    let key = key.rawValue
    let elements: [TOMLNode]
    switch node.content {
    case .array(let nodes): elements = nodes
    case .string(let text):
      fault(
        node.position,
        "“\(key)”: expected an array, found a string, which only a shell can split; use \(key) = "
          + ShellScript.suggestion(for: text))
      return nil
    default:
      expected("an array such as \(key) = \(DestinationKey.command.example)", at: key, found: node)
      return nil
    }
    guard !elements.isEmpty else {
      fault(node.position, "“\(key)”: expected a program and its arguments, found an empty array")
      return nil
    }
    var arguments: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element.content else {
        fault(element.position, "element \(index) of “\(key)”: expected a string, found \(element.kind)")
        continue
      }
      arguments.append(text)
      do throws(BracedText.Mistake) {
        let path = index == 0 ? HomePath(Array(text.utf8)) : nil
        let isLiteral = try CommandTemplate(path?.rest ?? Array(text.utf8)).isLiteral
        if index == 0, !isLiteral || text.isEmpty {
          let found = isLiteral ? "an empty text" : "a placeholder, which would let clients choose the program"
          fault(element.position, "“\(key)”: expected a program's name or path, found \(found)")
        } else if let mistake = path?.mistake {
          fault(element.position, "“\(key)”: \(mistake)")
        }
      } catch {
        fault(element.position, "element \(index) of “\(key)” \(error.why)")
      }
    }
    guard arguments.count == elements.count else { return nil }
    checkSize(of: arguments, key, node.position)
    if let script = ShellScript.position(in: arguments),
      (try? CommandTemplate(arguments[script].utf8))?.isLiteral == false
    {
      fault(
        elements[script].position,
        "element \(script) of “\(key)” is a shell script with a placeholder, so a shell would run the item's text as "
          + "code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
      )
    }
    return arguments.map { Array($0.utf8) }
  }

  /// Checks the size of a command as for a request (L1).
  private mutating func checkSize(of arguments: [String], _ key: String, _ position: TextPosition) {
    let (bytes, most) = (arguments.reduce(0) { $0 + $1.utf8.count + 1 }, Limits().value)
    guard bytes > most else { return }
    fault(position, "“\(key)”: expected a command of at most \(most) bytes (the limit “value”), found \(bytes)")
  }

  private mutating func unit() -> Destination.Presenter? {
    value(.unit) { text throws(Invalid) in
      let template: CommandTemplate
      do throws(BracedText.Mistake) { template = try CommandTemplate(text.utf8) } catch { throw Invalid(error.why) }
      do throws(UnitName.Mistake) { try template.checkUnitName(text) } catch { throw Invalid(error.why) }
      return .unit(text)
    }
  }

  private mutating func bus(_ node: TOMLNode) -> Destination.Presenter? {
    guard let table = entries(of: node, at: "bus", "a table such as bus = \(DestinationKey.bus.example)") else {
      return nil
    }
    var reader = TableReader(table, name: "bus", file: file, position: node.position)
    let name = reader.required("name", example: "\"org.example.Bar\"") { text throws(Invalid) in
      guard let name = BusName(text), !name.isUnique else {
        throw Invalid(expected: "a well-known bus name", found: text)
      }
      return name
    }
    let path = reader.required("path", example: "\"/presenter\"") { text throws(Invalid) in
      guard let path = ObjectPath(text) else { throw Invalid(expected: "an object path", found: text) }
      return path
    }
    add(reader.finish())
    guard let name, let path else { return nil }
    return .bus(name: name.text, path: path)
  }

  fileprivate mutating func isProtected(_ destination: Destination) -> Bool {
    guard bool(DestinationKey.protected.rawValue, default: false) == true else { return false }
    if destination.presenter == .none {
      fault(.protected, needs: "a “command”, “unit” or “bus”: an item without a program never ends by itself")
    }
    return true
  }

  fileprivate mutating func comesHere(_ destination: Destination) -> Bool {
    guard bool(DestinationKey.here.rawValue, default: false) == true else { return false }
    if destination.window == nil { fault(.here, needs: "“window”: only windows are on workspaces and outputs") }
    return true
  }

  fileprivate mutating func window(of destination: Destination, _ application: Application?) -> WindowFollowing? {
    let key = DestinationKey.window.rawValue
    guard let node = take(key) else { return nil }
    let following: WindowFollowing?
    switch node.content {
    case .boolean(let isFollowing):
      following = isFollowing ? WindowFollowing(takesAll: destination.scope == .tree) : nil
    case .table(let table):
      var reader = TableReader(
        table, name: key, file: file, position: node.position, advice: Self.adviceOfWindow)
      following = reader.windowFollowing(in: destination.scope)
      add(reader.finish())
    default:
      expected("true, or a table such as window = \(DestinationKey.window.example)", at: key, found: node)
      return nil
    }
    switch destination.presenter {
    case .command, .unit:
      guard var following else { return nil }
      if following.pattern.isEmpty { following.pattern.appID = application?.windowID.map(WindowPattern.escaped) }
      return following
    case .bus, .none:
      if following != nil { fault(.window, needs: "a “command” or a “unit”, whose windows it is about") }
      return nil
    }
  }

  /// Reads a word that decides about windows.
  /// - Parameters:
  ///   - words: the default and the alternative.
  ///   - why: the reason why the key needs a window.
  /// - Returns: whether the file has the alternative.
  fileprivate mutating func word(
    _ key: DestinationKey, _ words: [String], of destination: Destination, because why: String
  ) -> Bool {
    guard choice(key, of: words) == words.last else { return false }
    if destination.window == nil { fault(key, needs: "“window”: \(why)") }
    return true
  }

  /// - Parameter scope: the scope of the command. With the scope “process”, the user opens more windows in the program.
  fileprivate mutating func windowFollowing(in scope: CommandScope) -> WindowFollowing {
    func pattern(_ text: String) throws(Invalid) -> String {
      guard !text.isEmpty else { throw Invalid("expected a pattern, found an empty text") }
      // The criteria of sway and i3 are such expressions.
      guard !(text.hasPrefix("^") && text.hasSuffix("$")) else {
        throw Invalid("expected a shell pattern, found a regular expression; leave out “^” and “$”")
      }
      return text
    }
    let appID = value("app-id", example: "\"org.gnome.*\"", pattern)
    let title = value("title", example: "\"Files*\"", pattern)
    let settle = value("settle", example: "\"300ms\"") { text throws(Invalid) in try Self.milliseconds(text) }
    let linger = value("linger", example: "\"500ms\"") { text throws(Invalid) in try Self.milliseconds(text) }
    let share = choice("windows", of: ["first", "all"], example: "\"first\"")
    let kills = bool("kill", default: false) ?? false
    let leftover = choice("leftover", of: ["leave", "end"], example: "\"leave\"")
    if kills, leftover == "leave" {
      fault(nil, "“leftover” is “leave”, but “kill” ends the processes; use one of them")
    }
    let placement = windowPlacement()
    return WindowFollowing(
      WindowPattern(appID: appID, title: title), takesAll: share.map { $0 == "all" } ?? (scope == .tree),
      adopts: bool("adopt", default: false) ?? false, settle: settle ?? 0, linger: linger,
      endsLeftover: kills || leftover == "end", kills: kills, placement: placement)
  }

  private static let keysOfWindow: Set = [
    "app-id", "settle", "linger", "windows", "kill", "leftover", "place", "size", "margin", "float", "focus", "sticky",
    "above", "fullscreen", "adopt",
  ]

  /// The advice about a key that a destination does not have: one of `window`, or what other programs have.
  fileprivate static func adviceOfDestination(_ key: String, _ node: TOMLNode) -> String? {
    if case .table = node.content {
      return nearest(to: key, among: ["window"]) == nil
        ? "write its keys at the top of the file, without \(quoted("[\(key)]"))" : nil
    }
    let key = key.replacingAll("_", with: "-")
    if keysOfWindow.contains(key) { return "write it into “window”, such as window = { \(key) = … }" }
    return switch key {
    case "exec", "cmd", "program", "run": "use “command”, such as command = \(DestinationKey.command.example)"
    case "windowrule", "windowrulev2", "window-rule", "for-window":
      "write what it says into “window”, such as window = { app-id = \"foot\", place = \"top-right\" }"
    case "key", "keys", "bind", "bindsym", "keybind", "shortcut", "hotkey":
      "the configuration of the compositor binds keys, to “navctl toggle” and the name of this file without “.toml”"
    case "name": "the name is that of the file without “.toml”"
    default: nil
    }
  }

  /// The advice about a key that `window` does not have: one of the file, or what other programs have.
  fileprivate static func adviceOfWindow(_ key: String, _ node: TOMLNode) -> String? {
    let key = key.replacingAll("_", with: "-")
    if DestinationKey(rawValue: key) != nil { return "write it on a line of its own above “window”" }
    return switch key {
    case "position", "anchor", "center", "x", "y": "use “place”, such as place = \"top-right\" or place = \"100 50\""
    case "floating": "use “float”"
    case "no-focus": "use focus = false"
    case "width", "height": "use “size”, such as size = \"640 400\""
    case "geometry": "use “size” and “place”"
    case "class": "use “app-id”, which is also the class of an X11 window"
    case "pin": "use “sticky”"
    case "scratchpad": "write dismissal = \"hide\" on a line of its own above “window”"
    case "output", "monitor": "use “--output” of navctl, or the option of the request"
    default: nil
    }
  }

  /// Reads the keys that say where and how the window is shown (N15).
  private mutating func windowPlacement() -> WindowPlacement {
    let place = value("place", example: "\"top-right\"") { text throws(Invalid) in
      do throws(Refusal) { return try WindowPlacement.Place(text) } catch { throw Invalid(error.message) }
    }
    let size = value("size", example: "\"640 400\"") { text throws(Invalid) in
      do throws(Refusal) { return try WindowPlacement.Size(text) } catch { throw Invalid(error.message) }
    }
    let margin = number("margin", in: 0...WindowPlacement.maxPixels, example: "20")
    if margin != nil, node("place") == nil {
      fault(node("margin")?.position, WindowPlacement.marginNeedsPlace)
    }
    return WindowPlacement(
      place, size: size, margin: margin, floats: bool("float"),
      takesFocus: bool("focus"), isSticky: bool("sticky"),
      isAbove: bool("above"), isFullscreen: bool("fullscreen"))
  }

  /// - Returns: nil if the file has none of these keys.
  fileprivate mutating func itemSettings(
    of destination: Destination, _ application: Application?
  ) -> Shared<ItemSettings>? {
    var settings = ItemSettings()
    settings.id = text(.id)
    settings.desktop = application?.id
    settings.options.title = text(.title) ?? application?.title
    settings.options.value = take(DestinationKey.value.rawValue).flatMap { value(.value, $0) }
    settings.options.timeout = timeout(of: destination)
    settings.options.directory = directory(of: destination) ?? application?.directory
    settings.options.environment = environment(of: destination)
    settings.onPresent = take(DestinationKey.onPresent.rawValue).flatMap { command(.onPresent, $0) }
    settings.onDismiss = take(DestinationKey.onDismiss.rawValue).flatMap { command(.onDismiss, $0) }
    settings.check = check(of: destination)
    settings.hold = value(.hold) { name throws(Invalid) in
      guard HoldRequest.isName(name) else { throw Invalid(expected: "a name such as “locked”", found: name) }
      return name
    }
    settings.holds = holds(of: destination, holding: settings.hold)
    settings.inhibits = inhibits()
    settings.restart = restart(of: destination)
    settings.restoresAtLogin = choice(.restore, of: ["no", "login"]) == "login"
    settings.replacement = choice(.replacement) ?? .sequential
    settings.awaitsReady = awaitsReady(destination)
    do throws(Refusal) { try StateMachine().check(settings) } catch { fault(nil, error.message) }
    return settings == ItemSettings() ? nil : Shared(settings)
  }

  private mutating func check(of destination: Destination) -> ProgramCheck? {
    let key = DestinationKey.check.rawValue
    guard let node = take(key) else { return nil }
    guard let entries = entries(of: node, at: key, "a table such as \(key) = \(DestinationKey.check.example)") else {
      return nil
    }
    var reader = TableReader(entries, name: "“\(key)”", file: file, position: node.position)
    let commandNode = reader.take("command")
    let every = reader.value("every", example: "\"30s\"") { text throws(Invalid) in
      let milliseconds = try Self.milliseconds(text)
      guard milliseconds >= 1000 else { throw Invalid(expected: "1s or more", found: text) }
      return milliseconds
    }
    let failures = reader.number("failures", in: 1...1000, example: "3")
    add(reader.finish())
    if case .none = destination.presenter {
      fault(.check, needs: "a “command”, a “unit” or a “bus”: an item without a program always works")
    }
    guard let commandNode else {
      fault(node.position, "“\(key)” has no “command”; add one, for example \(key) = \(DestinationKey.check.example)")
      return nil
    }
    return command(.check, commandNode).map {
      ProgramCheck(
        $0, every: every ?? ProgramCheck.defaultInterval, failures: failures ?? ProgramCheck.defaultFailures)
    }
  }

  private mutating func awaitsReady(_ destination: Destination) -> Bool {
    guard choice(.ready, of: ["shown", "notify"]) == "notify" else { return false }
    switch destination.presenter {
    case .command, .unit: break
    case .bus, .none: fault(.ready, needs: "a “command” or a “unit”: a program on the bus says it by its answer")
    }
    return true
  }

  private mutating func inhibits() -> Set<InhibitedAction> {
    let key = DestinationKey.inhibit
    guard let node = take(key.rawValue) else { return [] }
    guard case .array(let elements) = node.content else {
      expected("an array such as \(key.rawValue) = \(key.example)", at: key.rawValue, found: node)
      return []
    }
    let words = InhibitedAction.allCases.map { "“\($0.rawValue)”" }.joined(separator: ", ")
    return elements.reduce(into: []) { actions, element in
      guard case .string(let word) = element.content else {
        return expected(
          "an array of strings such as \(key.rawValue) = \(key.example)", at: key.rawValue, found: element)
      }
      guard let action = InhibitedAction(rawValue: word) else {
        return fault(element.position, "“\(key.rawValue)”: expected some of \(words), found \(quoted(word))")
      }
      actions.insert(action)
    }
  }

  /// - Parameter hold: the hold that is in force while an item of the destination is live.
  private mutating func holds(of destination: Destination, holding hold: String?) -> [String: HoldAction] {
    let key = DestinationKey.holds
    let position = node(key)?.position
    let holds = holds(key.rawValue, example: key.example)
    if destination.isProtected, let name = holds.filter({ $0.value == .dismiss }).keys.min() {
      fault(position, "“holds”: “dismiss” for “\(name)” would end an item that “protected” keeps; use one of them")
    }
    if let hold, holds[hold] != nil {
      fault(position, "“holds”: “\(hold)” is the item's own “hold”, which does nothing with the item; leave it out")
    }
    return holds
  }

  private mutating func value(_ key: DestinationKey, _ node: TOMLNode) -> Properties? {
    guard case .table = node.content else {
      expected("a table such as \(key.rawValue) = \(key.example)", at: key.rawValue, found: node)
      return nil
    }
    do throws(JSON.Mismatch) {
      return Properties(value: try Value(try node.json()))
    } catch {
      fault(node.position(of: error.path), "“\(key.rawValue)”: \(error.why)")
      return nil
    }
  }

  private mutating func timeout(of destination: Destination) -> UInt64? {
    guard let timeout = duration(.timeout) else { return nil }
    if destination.isProtected {
      fault(node(.timeout)?.position, "“timeout” would end an item that “protected” keeps; use one of them")
    }
    return timeout
  }

  private mutating func restart(of destination: Destination) -> RestartRule? {
    let word = choice(.restart, of: ["no"] + RestartRule.Condition.allCases.map(\.rawValue))
    let delay = restartDelay(.restartDelay)
    let maxDelay = restartDelay(.restartDelayMax)
    let limit = number(
      DestinationKey.restartLimit.rawValue, in: 1...UInt32.max, example: DestinationKey.restartLimit.example)
    if node(.restart) == nil,
      let key = [DestinationKey.restartDelay, .restartDelayMax, .restartLimit].first(where: { node($0) != nil })
    {
      fault(
        node(key)?.position,
        "“\(key.rawValue)” needs “restart”, for example restart = \(DestinationKey.restart.example)")
    }
    guard let condition = word.flatMap(RestartRule.Condition.init(rawValue:)) else { return nil }
    switch destination.presenter {
    case .command, .bus: break
    case .unit: fault(.restart, needs: "a “command” or a “bus”; a systemd unit has its own Restart=")
    case .none: fault(.restart, needs: "a “command” or a “bus”: an item without a program never ends by itself")
    }
    var rule = RestartRule(condition)
    rule.delay = delay ?? rule.delay
    rule.maxDelay = maxDelay ?? rule.maxDelay
    rule.limit = limit ?? rule.limit
    if rule.delay > rule.maxDelay {
      let longest = maxDelay == nil ? "its default of 1m" : "that"
      fault(
        (node(.restartDelay) ?? node(.restartDelayMax))?.position,
        "“restart-delay” is longer than “restart-delay-max”; use a longer “restart-delay-max” than \(longest), or a "
          + "shorter delay")
    }
    return rule
  }

  /// Reads a delay of 100 ms or more, so that a program that ends at once uses no noticeable
  /// processor time.
  private mutating func restartDelay(_ key: DestinationKey) -> UInt64? {
    value(key) { text throws(Invalid) in
      let delay = try Self.milliseconds(text)
      guard delay >= 100 else { throw Invalid(expected: "100ms or more", found: text) }
      return delay
    }
  }

  private mutating func directory(of destination: Destination) -> String? {
    let position = requireCommand(.directory, of: destination)
    guard let directory = text(.directory) else { return nil }
    let path = HomePath(Array(directory.utf8))
    if let mistake = path.mistake {
      fault(position, "“directory”: \(mistake)")
    } else if path.path(home: "/").first != UInt8(ascii: "/") {
      fault(position, "“directory”: expected a path that begins with “/” or “~/”, found \(quoted(directory))")
    }
    return directory
  }

  private mutating func environment(of destination: Destination) -> [String: String]? {
    _ = requireCommand(.environment, of: destination)
    guard let node = take(DestinationKey.environment.rawValue) else { return nil }
    guard let table = value(.environment, node) else { return nil }
    return table.reduce(into: [:]) { variables, entry in
      guard case .string(let text) = entry.value else {
        return fault(
          node.position(of: [.member(entry.key)]),
          "“environment”: expected a string for \(quoted(entry.key)), found \(JSON(entry.value).text)")
      }
      variables[entry.key] = text
    }
  }

  /// Reports a key that only commands have.
  /// - Returns: the key's position.
  private mutating func requireCommand(_ key: DestinationKey, of destination: Destination) -> TextPosition? {
    guard let node = node(key) else { return nil }
    if case .command = destination.presenter { return node.position }
    fault(key, needs: "a “command”: units and programs on the bus have their own")
    return node.position
  }

  fileprivate mutating func group(of destination: Destination) -> DestinationGroup? {
    guard let text = text(.group) else { return nil }
    do throws(Refusal) {
      var member = destination
      member.group = try DestinationGroup(text)
      _ = try member.declaredTag()
      return member.group
    } catch {
      fault(node(.group)?.position, error.message)
      return nil
    }
  }

  /// Reports a key that needs another one, unless an earlier mistake may be why the other is
  /// missing.
  private mutating func fault(_ key: DestinationKey, needs need: String) {
    if faults.isEmpty { fault(node(key)?.position, "“\(key.rawValue)” needs \(need)") }
  }

  private func node(_ key: DestinationKey) -> TOMLNode? { node(key.rawValue) }

  private mutating func text(_ key: DestinationKey) -> String? { text(key.rawValue, example: key.example)?.text }

  private mutating func choice(_ key: DestinationKey, of words: [String]) -> String? {
    choice(key.rawValue, of: words, example: key.example)
  }

  private mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: DestinationKey) -> Choice? {
    choice(key.rawValue, example: key.example)
  }

  fileprivate mutating func value<Value>(
    _ key: DestinationKey, _ parse: (String) throws(Invalid) -> Value
  ) -> Value? {
    value(key.rawValue, example: key.example, parse)
  }

  fileprivate mutating func duration(_ key: DestinationKey) -> UInt64? {
    value(key) { text throws(Invalid) in try Self.milliseconds(text) }
  }

  private static func milliseconds(_ text: String) throws(Invalid) -> UInt64 {
    do throws(DurationText.Mistake) {
      return try DurationText.milliseconds(text)
    } catch {
      throw Invalid(expected: error.expected("a duration (numbers with ms, s, m or h)"), found: text)
    }
  }
}

/// Finds the script of a command that runs a shell.
private enum ShellScript {
  private static let shells: Set<Substring> = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "oksh", "yash", "fish", "elvish", "nu", "csh", "tcsh",
  ]

  /// The index of the script that a shell runs with `-c`; nil if there is none. Only the usual forms are recognised, because the
  /// check prevents mistakes, not intent.
  static func position(in arguments: [String]) -> Int? {
    for (index, argument) in arguments.enumerated()
    where shells.contains(argument.split(separator: "/").last ?? "") {
      var next = index + 1
      while next < arguments.count, let first = arguments[next].first, "-+".contains(first) {
        let option = arguments[next]
        let isShort = !option.hasPrefix("--")
        // The name of an option follows “-o”, as in “bash -euo pipefail -c”.
        next += isShort && option.contains { "oO".contains($0) } ? 2 : 1
        if isShort, first == "-", option.contains("c"), next < arguments.count { return next }
      }
    }
    return nil
  }

  /// The array that the writer of a string most likely meant.
  static func suggestion(for text: String) -> String {
    let isPlain = text.utf8.allSatisfy { !"|&;<>()$`\\\"'*?[]#~=%!\n".utf8.contains($0) }
    let words = isPlain ? text.split(separator: " ").map(String.init) : ["sh", "-c", text]
    return "[" + words.map { JSON.string($0).text }.joined(separator: ", ") + "]"
  }
}
