import DBusValues
import PresentationModel

/// The application id that a command suggests for its window. It is used where processes are not known (N1).
public struct SuggestedAppID: Hashable, Sendable {
  /// The id in messages.
  public let name: String
  /// All spellings of the id, in lower case: compositors and toolkits do not agree on one.
  private let ids: Set<String>
  /// Whether an id matches if its last part is the name, as in `org.xfce.Thunar`.
  private let fitsLastPart: Bool

  /// Options of terminals and browsers that give the window an id.
  private static let options = ["--app-id", "--class"]
  /// Programs that start other programs, whose window it is. `python3.11` begins with one of these names.
  private static let launchers: Set = [
    "bash", "bwrap", "dash", "dbus-run-session", "doas", "env", "firejail", "fish", "flatpak", "gio", "gjs",
    "gtk-launch", "ionice", "java", "ksh", "lua", "nice", "node", "nohup", "perl", "pkexec", "python", "ruby", "setsid",
    "sh", "snap", "stdbuf", "sudo", "systemd-inhibit", "systemd-run", "timeout", "wine", "xdg-open", "zsh",
  ]

  /// - Parameters:
  ///   - command: a program and its arguments, which may contain placeholders.
  ///   - idsOfProgram: the ids that desktop files give the windows of a program.
  /// - Returns: nil if the command suggests no id.
  public init?(of command: [[UInt8]], idsOfProgram: (String) -> [String]) {
    let words = command.map { String(decoding: $0, as: UTF8.self) }
    guard let first = words.first, let program = first.split(separator: "/").last.map(String.init) else { return nil }
    let arguments = words.dropFirst()
    if let given = Self.given(by: arguments) {
      self.init(given, [given], fitsLastPart: false)
    } else if Self.isLauncher(program) {
      guard let named = Self.named(by: program, arguments) else { return nil }
      self.init(named, [named], fitsLastPart: false)
    } else {
      self.init(program, [program] + idsOfProgram(program), fitsLastPart: true)
    }
  }

  private init?(_ name: String, _ ids: [String], fitsLastPart: Bool) {
    // The text of a placeholder is not known yet.
    guard !name.isEmpty, !name.contains("{") else { return nil }
    self.name = name
    self.ids = Set(ids.map { $0.lowercased() })
    self.fitsLastPart = fitsLastPart
  }

  /// The id that an option gives.
  private static func given(by arguments: ArraySlice<String>) -> String? {
    // The rest is a command that runs in the terminal.
    let own = arguments.prefix { $0 != "-e" && $0 != "--" }
    for (index, argument) in zip(own.indices, own) {
      if options.contains(argument) { return own.dropFirst(index - own.startIndex + 1).first }
      guard let option = options.first(where: { argument.hasPrefix("\($0)=") }) else { continue }
      // Alacritty takes two names, the first one for Wayland.
      return String(argument.dropFirst(option.utf8.count + 1).prefix { $0 != "," })
    }
    return nil
  }

  private static func isLauncher(_ program: String) -> Bool {
    let version: Set<Character> = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "."]
    let name = program.reversed().drop { version.contains($0) }.reversed()
    return launchers.contains(String(name)) || launchers.contains(program)
  }

  /// The id of the desktop file that a launcher starts.
  private static func named(by program: String, _ arguments: ArraySlice<String>) -> String? {
    let words = arguments.filter { !$0.hasPrefix("-") }
    let id =
      switch program {
      case "gtk-launch": words.first
      case "flatpak" where words.first == "run": words.dropFirst().first
      default: String?.none
      }
    guard let id else { return nil }
    return id.hasSuffix(".desktop") ? String(id.dropLast(".desktop".count)) : id
  }

  /// Whether the application id of a window is a suggested one.
  public func fits(_ appID: String?) -> Bool {
    guard let id = appID?.lowercased(), !id.isEmpty else { return false }
    return ids.contains(id) || fitsLastPart && id.hasSuffix(".\(name.lowercased())")
  }
}

// MARK: Without processes (N1)

extension WindowTracker {
  /// Sets the id that the command of a presentation suggests; nil if it suggests none.
  public mutating func suggest(_ suggested: SuggestedAppID?, for handle: Handle) {
    followed[handle]?.suggestedAppID = suggested
  }

  /// The id that the command of a presentation without a pattern suggests, and another window with such an id.
  public func suggestion(for handle: Handle) -> (appID: SuggestedAppID, rival: Window?)? {
    guard let following = followed[handle], following.rule.pattern.isEmpty,
      let suggested = following.suggestedAppID
    else { return nil }
    let rival = rival(of: suggested, otherThan: nil)
    return (suggested, rival.flatMap { id in windows[id].map { Window(id: id, $0.properties) } })
  }

  /// The id of another window that a suggested id matches and that belongs to no presentation; nil if there is none.
  /// - Parameter id: the window that does not count.
  private func rival(of suggested: SuggestedAppID, otherThan id: String?) -> String? {
    windows.all.filter { other, window in
      if case .presentation = window.owner { return false }
      return other != id && suggested.fits(window.properties.appID)
    }.keys.min()
  }

  /// Whether a window matches a presentation: its pattern, or the id that its command suggests.
  func fits(_ window: TrackedWindow, _ following: WindowFollower) -> Bool {
    if !following.rule.pattern.isEmpty { return following.rule.pattern.matches(window.properties) }
    guard capabilities?.contains(.pid) == false, let suggested = following.suggestedAppID else { return false }
    return suggested.fits(window.properties.appID)
  }

  /// Whether a window that matches may still belong to another program: only its id matches, and another window has the same id, or
  /// another presentation waits for it.
  func isDoubtful(_ window: TrackedWindow, _ handle: Handle, _ following: WindowFollower) -> Bool {
    guard following.rule.pattern.isEmpty, let suggested = following.suggestedAppID else { return false }
    return rival(of: suggested, otherThan: window.id) != nil
      || followed.all.contains { $0 != handle && $1.takesWindows && $1.windows.isEmpty && fits(window, $1) }
  }
}
