import DBusValues
import PresentationModel
import Testing
import TextFormats

@testable import CoordinatorDaemon

// The settings in navd.toml: container values, holds and inline-commands, and the message for each mistake.

private func read(_ text: String) throws -> [String: Value] {
  let content = SettingsFile.read(Array(text.utf8), path: "/c/navd.toml")
  try #require(content.faults.isEmpty)
  return Dictionary(uniqueKeysWithValues: content.containerValues.map { ($0.key, $0.defaultValue) })
}

/// The faults of a text, each as it is shown, without the file's path.
private func faults(_ text: String) -> [String] {
  SettingsFile.read(Array(text.utf8), path: "").faults.map { String($0.description.dropFirst()) }
}

@Test func settingsFile_containerValues_haveTheirTypes() throws {
  let values = try read(
    """
    # Values that panels set.
    [container-values]
    badge = { signature = "x", default = -1 }
    level = { signature = "y", default = 0xff }
    share = { signature = "d", default = 1 }
    urgent = { signature = "b", default = false }
    icon = { signature = "s", default = "" }
    tags = { signature = "as", default = [] }
    bytes = { signature = "ay", default = "ab" }
    place = { signature = "(iv)", default = [3, "x"] }

    [container-values.limits]
    signature = "a{sv}"
    default = { most = 1.5, names = ["a", 2] }
    """)
  #expect(
    values == [
      "badge": .int64(-1), "level": .byte(255), "share": .double(1), "urgent": .boolean(false), "icon": .string(""),
      "tags": [String]().value, "bytes": .bytes(Array("ab".utf8)),
      "place": .structure([.int32(3), .variant(.string("x"))]),
      "limits": [
        "most": Value.double(1.5), "names": .array(element: .variant, [.variant(.string("a")), .variant(.int64(2))]),
      ]
      .value,
    ])
  #expect(try read("") == [:])
  #expect(try read("[container-values]") == [:])
}

@Test(arguments: [
  ("= 1", "1:1: expected a key"),
  (
    "container-values = 3",
    "1:1: “container-values”: expected a table with keys such as badge = { signature = \"x\""
  ),
  (
    "groups = 'x'",
    "1:1: “groups”: expected a table with groups such as main = { fallback = \"dashboard\" }, found a string"
  ),
  ("[groups]\nmain = 'x'", "2:1: “main”: expected a table such as { fallback = \"dashboard\" }, found a string"),
  (
    "[groups.main]\n",
    "1:9: “groups.main” has neither “fallback” nor “replacement”; add one, for example fallback = \"dashboard\""
  ),
  (
    "[groups.main]\nreplacement = 'both'",
    "2:1: “replacement”: expected “sequential” or “overlap”, found “both”"
  ),
  (
    "[groups.main]\nfallback = 'a/b'",
    "2:1: “fallback”: expected the name of a destination, found “a/b”, for example fallback = \"dashboard\""
  ),
  (
    "[groups.main]\nfallback = ['a/b']",
    "2:13: “fallback”: expected the name of a destination, found “a/b”, for example fallback = \"dashboard\""
  ),
  (
    "[groups.main]\nfallback = [{ show = 'a/b', days = 'Mon' }]",
    "2:15: “show”: expected the name of a destination, found “a/b”, for example show = \"menu\""
  ),
  ("startup = 3", "1:1: “startup”: expected a string such as startup = \"startup.json\", found an integer"),
  ("startup = ''", "1:1: “startup”: expected a path, found “”, for example startup = \"startup.json\""),
  (
    "startup = '~ann/x'",
    "1:1: “startup”: expected a path, or one that begins with “~/” or “$HOME/”, found “~ann”, which only a shell expands"
  ),
  ("[groups.main]\nfalback = 'a'", "2:1: “falback” is not a key of groups.main; did you mean “fallback”?"),
  ("[groups.'9']\nfallback = 'a'", "1:9: group “9” begins with “9”; a name begins with a letter or _"),
  ("container_values = {}", "1:1: “container_values” is not a key of navd.toml; did you mean “container-values”?"),
  (
    "[container-values]\nbadge = 0",
    "2:1: “badge”: expected a table such as { signature = \"x\", default = 0 }, found an integer"
  ),
  (
    "[container-values]\n\nbadge = { default = 0 }",
    "3:1: “badge” has no “signature”; add one, for example signature = \"x\""
  ),
  (
    "[container-values]\nbadge = { signature = 'x' }",
    "2:1: “badge” has no “default”; add one, for example badge = { signature = \"x\", default = 0 }"
  ),
  (
    "container-values.k = { signature = 'xx', default = 0 }",
    "1:24: “signature”: expected the signature of one D-Bus type, found “xx”"
  ),
  (
    "container-values.k = { signature = '', default = 0 }",
    "1:24: “signature”: expected the signature of one D-Bus type, found “”"
  ),
  ("container-values.k = { signature = 3, default = 0 }", "1:24: “signature”: expected a string such as"),
  (
    "container-values.k = { signature = 'y', default = 256 }",
    "1:41: “default” of “k”: expected 0 to 255 (y), found 256"
  ),
  (
    "container-values.k = { signature = 's', default = 1 }",
    "1:41: “default” of “k”: expected a string (s), found an integer"
  ),
  (
    "container-values.k = { signature = 's', default = 1979-05-27 }",
    "1:41: “default” of “k”: a date or time cannot be sent over D-Bus"
  ),
  ("container-values.k = { signature = 'h', default = 0 }", "1:41: “default” of “k”: expected a descriptor"),
  (
    "container-values.k = { signature = 'x', defualt = 0 }",
    "1:41: “defualt” is not a key of k; did you mean “default”?"
  ),
  (
    "container-values.'no name' = { signature = 'x', default = 0 }",
    "1:18: expected a key of letters, digits, “_” and “-” that begins with a letter or “_”, found “no name”"
  ),
  (
    "container-values.\"a\\nb\" = 1",
    "1:18: expected a key of letters, digits, “_” and “-” that begins with a letter or “_”, found “a\\x0ab”"
  ),
  ("[container-values]\nk = { signature = 's', default = '' }\nk = 1", "3:1: “k” is already defined at line 2"),
  // The position of this mistake is inside a default.
  (
    "[container-values.k]\nsignature = 'as'\ndefault = [\n  'a',\n  2,\n]",
    "5:3: “default” of “k”: expected a string (s)"
  ),
  (
    "[container-values.k]\nsignature = 'a{sx}'\n[container-values.k.default]\na = 1\nb = ''",
    "5:1: “default” of “k”: expected"
  ),
])
func settingsFile_mistake_isReportedWithItsPosition(_ text: String, _ fault: String) {
  let faults = faults(text)
  #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
}

@Test func settingsFile_mistakes_areAllReported() {
  #expect(
    faults("[container-values]\na = 1\nb = { signature = 'x', default = 0 }\nc = { signature = 'z', default = 0 }\n")
      .map {
        $0.prefix(3)
      } == ["2:1", "4:7"])
}

@Test func settingsFile_defaultPastALimit_isRefused() {
  let text = String(repeating: "x", count: 1 << 17)
  #expect(
    faults("container-values.k = { signature = 's', default = '\(text)' }").first?.contains("“defaults”") == true)
}

@Test("H3: the settings of holds are read, unless there is a mistake in them")
func settingsFile_holds_areRead() {
  func holds(_ text: String) -> [String: String]? {
    SettingsFile.read(Array(text.utf8), path: "/c/navd.toml").holds?.mapValues(\.rawValue)
  }
  #expect(holds("[holds]\ndnd = 'postpone'\nlocked = 'show'") == ["dnd": "postpone", "locked": "show"])
  #expect(holds("inline-commands = 0") == [:])
  #expect(holds("holds = { dnd = 'later' }") == nil)
  #expect(
    faults("holds = { '1' = 'show' }").first?.contains("as the name of a hold, found “1”") == true)
}

@Test("L3: inline-commands is read despite other mistakes in the file, and is unknown if the text is not TOML")
func settingsFile_inlineCommands_isReadWhateverElseIsWrong() {
  func inlineCommands(_ text: String) -> InlineCommands? {
    SettingsFile.read(Array(text.utf8), path: "/c/navd.toml").inlineCommands
  }
  #expect(inlineCommands("") == .allowed)
  #expect(inlineCommands("inline-commands = true") == .allowed)
  #expect(inlineCommands("inline-commands = false") == .switchedOff(file: "/c/navd.toml"))
  #expect(inlineCommands("inline-commands = false\nbadge = 1") == .switchedOff(file: "/c/navd.toml"))
  #expect(inlineCommands("inline-commands = \"no\"") == nil)
  #expect(inlineCommands("inline-commands = false\n= 1") == nil)
  #expect(faults("inline-commands = 0") == ["1:1: “inline-commands”: expected true or false, found an integer"])
}
