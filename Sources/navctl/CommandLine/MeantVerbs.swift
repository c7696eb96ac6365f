import TextFormats

extension Verbs {
  /// The verbs for words of other programs that mean the same.
  private static let meanings: [(verb: String, words: Set<String>)] = [
    ("open", ["start", "run", "launch", "spawn", "exec", "create", "new", "up", "on", "enable"]),
    (
      "close",
      [
        "kill", "stop", "end", "hide", "terminate", "remove", "rm", "delete", "clear", "unset", "down", "off",
        "disable",
      ]
    ),
    ("open NAME --raise", ["raise", "focus", "front"]),
    ("list", ["ls", "ps", "all", "what", "state"]),
    ("status", ["info", "why", "get", "explain", "describe", "inspect", "stat"]),
    ("update", ["set", "change", "modify"]),
    ("select", ["switch", "tab", "activate", "choose", "goto"]),
    ("pop", ["back"]),
    ("hold", ["pause", "mute", "dnd", "inhibit", "block", "suspend"]),
    ("release", ["resume", "unpause", "unmute", "unhold", "unblock"]),
    ("history", ["log", "logs", "journal", "errors", "last"]),
    ("watch", ["subscribe", "monitor", "follow", "listen", "events", "tail"]),
    ("check-config", ["config", "validate", "lint", "test"]),
    ("doctor", ["check", "diagnose", "debug", "fix"]),
    ("reload", ["restart", "refresh", "reread"]),
    ("play", ["playlist", "slideshow", "sequence"]),
  ]

  /// The verb that a word may stand for: one that means the same, otherwise the one with the nearest name; never one for
  /// presenters, which people do not type.
  static func meant(by word: String) -> String? {
    meanings.first { $0.words.contains(word.lowercased()) }?.verb
      ?? nearest(to: word, among: groups.lazy.filter { $0.title != presenters }.flatMap(\.verbs).map(\.name))
  }
}
