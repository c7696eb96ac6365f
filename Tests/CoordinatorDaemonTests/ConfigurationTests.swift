import EventLoops
import Glibc
import PresentationRules
import SessionFiles
import TestSupport
import Testing
import TextFormats

@testable import CoordinatorDaemon

// Configuration files: where they are searched for, which count, what is reported of mistakes, and how changes are noticed.

/// The destinations in effect as `name:style`, and the faults without the path of the root.
private struct Loaded: Equatable {
  var styles: [String]
  var faults: [String]
  init(_ styles: [String], _ faults: [String] = []) {
    self.styles = styles
    self.faults = faults
  }
}

/// Temporary base directories, and the configuration read from them.
private struct Bases {
  let root: TemporaryDirectory
  var configuration: Configuration

  /// The base directories are `root/0`, `root/1`, ….
  init(_ count: Int = 1) {
    let root = TemporaryDirectory()
    self.root = root
    let bases = (0..<count).map { root.path(of: "\($0)") }
    configuration = Configuration(baseDirectories: bases.map { Array($0.utf8) })
    for base in bases { for part in ["", "/navd", "/navd/destinations"] { mkdir(base + part, 0o755) } }
  }

  func path(_ name: String, in base: Int = 0) -> String { root.path(of: "\(base)/navd/destinations/\(name)") }

  func write(_ text: String, to name: String, in base: Int = 0) throws {
    try write(text, toPath: path(name, in: base))
  }

  func write(settings text: String, in base: Int = 0) throws {
    try write(text, toPath: root.path(of: "\(base)/navd/navd.toml"))
  }

  func write(_ text: String, toPath path: String) throws { try Files.write(text, to: path) }

  mutating func reload(isSettled: Bool = true) -> Loaded {
    let content = configuration.reload(isSettled: isSettled)
    let prefix = root.path.utf8.count + 1
    return Loaded(
      content.destinations.map { "\($0.name):\($0.style ?? "")" },
      content.faults.map { String(decoding: $0.description.utf8.dropFirst(prefix), as: UTF8.self) }
    )
  }
}

@Test func configuration_sameNameInTwoDirectories_firstFoundWins() throws {
  var bases = Bases(3)
  try bases.write("style = 'late'", to: "a.toml", in: 2)
  try bases.write("style = 'early'", to: "a.toml", in: 1)
  try bases.write("style = 'only'", to: "b.toml", in: 2)
  #expect(bases.reload() == Loaded(["a:early", "b:only"]))
  unlink(bases.path("a.toml", in: 1))
  #expect(bases.reload() == Loaded(["a:late", "b:only"]))
}

@Test func configuration_mistake_keepsWhatWasLoadedBefore() throws {
  var bases = Bases(2)
  try bases.write("style = 'one'", to: "a.toml")
  #expect(bases.reload() == Loaded(["a:one"]))
  try bases.write("style = 'two'\nstile = 3", to: "a.toml")
  let fault = "0/navd/destinations/a.toml:2:1: “stile” is not a key of a destination; did you mean “style”?"
  for _ in 0..<2 { #expect(bases.reload() == Loaded(["a:one"], [fault])) }
  try bases.write("style = 'three'", to: "a.toml")
  #expect(bases.reload() == Loaded(["a:three"]))
}

@Test func configuration_mistakeInTheFirstFile_isNotReplacedByTheNext() throws {
  var bases = Bases(2)
  try bases.write("= 1", to: "a.toml", in: 0)
  try bases.write("style = 'vendor'", to: "a.toml", in: 1)
  let loaded = bases.reload()
  #expect(loaded.styles.isEmpty)
  #expect(loaded.faults.count == 1)
}

@Test func configuration_fileGone_takesItsDestinationWithIt() throws {
  var bases = Bases()
  try bases.write("", to: "a.toml")
  #expect(bases.reload().styles == ["a:"])
  unlink(bases.path("a.toml"))
  #expect(bases.reload() == Loaded([]))
}

@Test func configuration_missingDirectories_areNoMistake() {
  var configuration = Configuration(baseDirectories: [Array("/nowhere".utf8), Array("/dev/null".utf8), Array("/".utf8)])
  let content = configuration.reload()
  #expect(content.destinations.isEmpty)
  #expect(content.containerValues.isEmpty)
  #expect(content.faults.isEmpty)
}

@Test func configuration_otherFiles_areIgnored() throws {
  var bases = Bases()
  for name in [".toml", ".hidden.toml", "a.toml~", "a.txt", "toml", "a.TOML"] { try bases.write("x = 1", to: name) }
  mkdir(bases.path("directory"), 0o755)
  #expect(bases.reload() == Loaded([]))
}

@Test func configuration_filesOfOtherKinds_areReportedAndBlockNothing() throws {
  var bases = Bases()
  try bases.write("", to: "good.toml")
  mkdir(bases.path("directory.toml"), 0o755)
  mkfifo(bases.path("fifo.toml"), 0o644)
  symlink("/nowhere", bases.path("dangling.toml"))
  symlink("loop.toml", bases.path("loop.toml"))
  symlink("good.toml", bases.path("link.toml"))
  try bases.write(String(repeating: "#", count: Configuration.maxFileBytes), to: "largest.toml")
  try bases.write(String(repeating: "#", count: Configuration.maxFileBytes + 1), to: "huge.toml")
  symlink("/dev/zero", bases.path("device.toml"))
  let loaded = bases.reload()
  #expect(loaded.styles == ["good:", "largest:", "link:"])
  #expect(
    loaded.faults == [
      "0/navd/destinations/dangling.toml: the link's target does not exist; create the target or remove the link",
      "0/navd/destinations/device.toml: expected a regular file, found a device",
      "0/navd/destinations/directory.toml: expected a regular file, found a directory",
      "0/navd/destinations/fifo.toml: expected a regular file, found a FIFO",
      "0/navd/destinations/huge.toml: expected at most 1048576 bytes, found more",
      "0/navd/destinations/loop.toml: cannot be read: Too many levels of symbolic links",
    ])
}

@Test func configuration_nameThatIsNotUTF8_isReportedOnOneLine() throws {
  var bases = Bases()
  let path = Array(bases.path("a\n").utf8) + [0xff] + Array(".toml\0".utf8)
  let file = path.withUnsafeBytes { creat($0.assumingMemoryBound(to: CChar.self).baseAddress!, 0o644) }
  #expect(file >= 0)
  close(file)
  let loaded = bases.reload()
  path.withUnsafeBytes { _ = unlink($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
  #expect(loaded.styles.isEmpty)
  #expect(
    loaded.faults == [
      "0/navd/destinations/a\\x0a\\xff.toml: the file's name is not UTF-8; use another name"
    ])
}

@Test(.enabled(if: geteuid() != 0, "root may read everything"))
func configuration_withoutPermission_isReportedAndKeepsWhatWasLoaded() throws {
  var bases = Bases(2)
  try bases.write("style = 'mine'", to: "a.toml", in: 0)
  try bases.write("style = 'late'", to: "a.toml", in: 1)
  #expect(bases.reload().styles == ["a:mine"])
  chmod(bases.path("a.toml"), 0)
  #expect(bases.reload() == Loaded(["a:mine"], ["0/navd/destinations/a.toml: cannot be read: Permission denied"]))
  chmod(bases.path(""), 0)
  #expect(bases.reload() == Loaded(["a:mine"], ["0/navd/destinations: cannot be read: Permission denied"]))
  chmod(bases.path(""), 0o755)
}

@Test func configuration_directoryThatIsAFile_keepsWhatWasLoadedFromIt() throws {
  var bases = Bases(2)
  try bases.write("style = 'mine'", to: "a.toml", in: 0)
  try bases.write("style = 'late'", to: "a.toml", in: 1)
  #expect(bases.reload().styles == ["a:mine"])
  rename(bases.path(""), bases.root.path(of: "aside"))
  try bases.write("", toPath: bases.root.path(of: "0/navd/destinations"))
  #expect(bases.reload() == Loaded(["a:mine"], ["0/navd/destinations: cannot be read: Not a directory"]))
}

@Test func configuration_baseDirectories_followTheirSpecification() {
  func directories(_ environment: [String: String]) -> [String] {
    BaseDirectories.configuration { environment[$0].map { Array($0.utf8) } }.map { String(decoding: $0, as: UTF8.self) }
  }
  #expect(directories(["HOME": "/h"]) == ["/h/.config", "/etc/xdg", "/usr/local/share", "/usr/share"])
  #expect(
    directories([
      "HOME": "/h", "XDG_CONFIG_HOME": "/c:d", "XDG_CONFIG_DIRS": "/e::relative:/f", "XDG_DATA_DIRS": "",
    ]) == ["/c:d", "/e", "/f", "/usr/local/share", "/usr/share"])
  #expect(
    directories(["HOME": "/h", "XDG_CONFIG_HOME": "relative", "XDG_CONFIG_DIRS": "/e", "XDG_DATA_DIRS": "/d"])
      == ["/h/.config", "/e", "/d"])
  #expect(
    directories(["HOME": "h", "XDG_CONFIG_HOME": "relative", "XDG_CONFIG_DIRS": "/e", "XDG_DATA_DIRS": "/d"])
      == ["/e", "/d"])
  func state(_ environment: [String: String]) -> String? {
    BaseDirectories.state { environment[$0].map { Array($0.utf8) } }.map { String(decoding: $0, as: UTF8.self) }
  }
  #expect(state(["HOME": "/h"]) == "/h/.local/state")
  #expect(state(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s")
  #expect(state(["HOME": "/h", "XDG_STATE_HOME": "relative"]) == "/h/.local/state")
  #expect(state(["HOME": "h"]) == nil && state(["HOME": ""]) == nil && state([:]) == nil)
}

@Test func configuration_onlyOneDirectory_mayContainDestinationsAtThreeLevels() throws {
  var bases = Bases()
  try bases.write("style = 's'", to: "a.toml")
  for path in ["0", "0/navd", "0/navd/destinations"] {
    bases.configuration = Configuration(only: Array(bases.root.path(of: path).utf8))
    #expect(bases.reload() == Loaded(["a:s"]))
  }
  bases.configuration = Configuration(only: Array(bases.root.path(of: "nowhere").utf8))
  #expect(bases.reload() == Loaded([], ["nowhere: cannot be read: No such file or directory"]))
}

@Test func configuration_settings_areThoseOfTheFirstFileFound() throws {
  var bases = Bases(3)
  func keys() -> [String] { bases.configuration.reload().containerValues.map(\.key) }
  #expect(keys() == [])
  try bases.write(settings: "container-values.late = { signature = 's', default = '' }", in: 2)
  #expect(keys() == ["late"])
  try bases.write(settings: "container-values.early = { signature = 's', default = '' }", in: 1)
  #expect(keys() == ["early"])
  // A mistake in the first file is reported with those of the destinations, and the next file does not replace the first.
  try bases.write("= 1", to: "a.toml")
  try bases.write(settings: "container-value = 1")
  let content = bases.configuration.reload()
  #expect(content.containerValues == [])
  #expect(
    content.faults.map { String($0.description.dropFirst(bases.root.path.count + 1)) } == [
      "0/navd/navd.toml:1:1: “container-value” is not a key of navd.toml; did you mean “container-values”?",
      "0/navd/destinations/a.toml:1:1: expected a key, found “=”; a key is letters, digits, “_” and “-”, or a string "
        + "in quotes",
    ])
  unlink(bases.root.path(of: "0/navd/navd.toml"))
  mkdir(bases.root.path(of: "0/navd/navd.toml"), 0o755)
  #expect(
    bases.configuration.reload().faults.first?.description
      == "\(bases.root.path)/0/navd/navd.toml: expected a regular file, found a directory")
}

@Test func configuration_onlyOneDirectory_mayContainSettingsAtTwoLevels() throws {
  var bases = Bases()
  try bases.write(settings: "container-values.k = { signature = 's', default = '' }")
  func keys(_ path: String) -> [String] {
    bases.configuration = Configuration(only: Array(bases.root.path(of: path).utf8))
    let content = bases.configuration.reload()
    #expect(content.faults == [])
    return content.containerValues.map(\.key)
  }
  for path in ["0", "0/navd", "0/navd/"] { #expect(keys(path) == ["k"], "\(path)") }
  #expect(keys("0/navd/destinations") == [])
  // Settings are read without a directory of destinations, too. In a directory of destinations, navd.toml is a destination.
  rmdir(bases.path(""))
  for path in ["0", "0/navd"] { #expect(keys(path) == ["k"], "\(path)") }
  mkdir(bases.path(""), 0o755)
  try bases.write("style = 's'", to: "navd.toml")
  for path in ["0/navd/destinations", "0/navd/destinations/"] {
    #expect(keys(path) == [])
    #expect(bases.reload().styles == ["navd:s"])
  }
}

@Test func configurationReport_ofADirectory_isTextOrOneLineOfJSON() throws {
  let bases = Bases()
  let path = bases.root.path(of: "0")
  try bases.write("", to: "a.toml")
  #expect(ConfigurationReport(of: path).isFaultless)
  #expect(ConfigurationReport(of: path).text == "1 destination, 0 container values, no mistakes")
  try bases.write(settings: "container-values.k = { signature = 's', default = '' }")
  #expect(ConfigurationReport(of: path).text == "1 destination, 1 container value, no mistakes")
  try bases.write("b = 1", to: "b.toml")
  let report = ConfigurationReport(of: path)
  #expect(!report.isFaultless)
  #expect(report.text.hasPrefix("\(bases.path("b.toml")):1:1: “b” is not a key of a destination; "))
  #expect(report.json.hasPrefix(#"{"container-values":["k"],"destinations":["a"],"directories":["#))
  #expect(report.json.hasSuffix(#"}],"warnings":[],"windows":{}}"#))
  #expect(!report.json.contains("\n"))
}

@Test func configurationReport_programsNotFound_areWarningsAndNoMistakes() throws {
  let bases = Bases()
  try bases.write("command = ['no-such-program', '{id}']", to: "a.toml")
  try bases.write("command = ['/etc/passwd']", to: "b.toml")
  try bases.write("command = ['sh', '-c', 'true']", to: "c.toml")
  // A relative path starts in the request's directory, which is unknown.
  try bases.write("command = ['./script']", to: "d.toml")
  let report = ConfigurationReport(of: bases.root.path(of: "0"))
  #expect(report.isFaultless)
  let lines = report.text.split(separator: "\n")
  #expect(lines.count == 3)
  #expect(lines[0].hasPrefix("\(bases.path("a.toml")): warning: no-such-program: not found in PATH (/"))
  #expect(lines[1] == "\(bases.path("b.toml")): warning: /etc/passwd: cannot be executed: Permission denied")
  #expect(lines[2] == "4 destinations, 0 container values, no mistakes")
  #expect(report.json.contains(#""warnings":[{"file":"\#(bases.path("a.toml"))","message":"no-such-program: "#))
}

@Test func configurationReport_regularExpressions_areWarnings() throws {
  let bases = Bases()
  for (name, pattern) in [
    "a": ".*", "b": #"org\.gnome"#, "c": "(Mail|News)", "d": "^mail", "e": "org.gnome.*", "f": "* (draft)",
    "g": "[Tt]hunar*",
  ] {
    try bases.write("command = ['sh']\nwindow = { app-id = '\(pattern)' }", to: "\(name).toml")
  }
  let lines = ConfigurationReport(of: bases.root.path(of: "0")).text.split(separator: "\n")
  #expect(lines.count == 5, "\(lines)")
  #expect(
    lines[0].hasPrefix(
      "\(bases.path("a.toml")): warning: “app-id”: “.*” looks like a regular expression, but it is a shell pattern: "))
}

@Test func configurationReport_pathAndDirectoryOfTheDestination_areUsed() throws {
  let bases = Bases()
  let tools = bases.root.path(of: "tools")
  mkdir(tools, 0o755)
  symlink("/bin/sh", tools + "/tool")
  try bases.write("command = ['tool']\nenvironment = { PATH = '\(tools)' }", to: "a.toml")
  try bases.write("command = ['./tool']\ndirectory = '\(tools)'", to: "b.toml")
  try bases.write("command = ['~/tool']\nenvironment = { HOME = '\(tools)' }", to: "c.toml")
  try bases.write("command = ['sh']\nenvironment = { PATH = '\(tools)' }", to: "d.toml")
  try bases.write("command = ['sh']\ndirectory = '~/nowhere'\nenvironment = { HOME = '/h' }", to: "e.toml")
  try bases.write("on-present = ['/nowhere/hook']\non-dismiss = ['sh']", to: "f.toml")
  let lines = ConfigurationReport(of: bases.root.path(of: "0")).text.split(separator: "\n")
  #expect(
    lines == [
      "\(bases.path("d.toml")): warning: sh: not found in PATH (\(tools))",
      "\(bases.path("e.toml")): warning: working directory /h/nowhere: No such file or directory",
      "\(bases.path("f.toml")): warning: /nowhere/hook: there is no such program",
      "6 destinations, 0 container values, no mistakes",
    ])
}

@Test func configurationReport_filesThatAreNotRead_areWarnings() throws {
  let bases = Bases()
  let settings = bases.root.path(of: "0/navd")
  for name in ["a.toml", "b.tml", "c.toml.txt", "d.TOML", "e.toml.bak", "f.sh", "g.toml~", ".h.tml", "toml"] {
    try bases.write("", to: name)
  }
  try bases.write(settings: "")
  try bases.write("", toPath: settings + "/mixer.toml")
  let lines = ConfigurationReport(of: bases.root.path(of: "0")).text.split(separator: "\n").map(String.init)
  let ending = "warning: this file is not read, since its name does not end with “.toml”"
  #expect(
    lines == [
      "\(bases.path("b.tml")): \(ending)", "\(bases.path("c.toml.txt")): \(ending)",
      "\(bases.path("d.TOML")): \(ending)",
      "\(settings)/mixer.toml: warning: this file is not read; one of a destination belongs into "
        + "\(settings)/destinations",
      "1 destination, 0 container values, no mistakes",
    ])
  // A report on a single file leaves out warnings about other files.
  #expect(ConfigurationReport(of: bases.path("a.toml")).text == "1 destination, 0 container values, no mistakes")
}

@Test func configurationWarnings_programInstalledSince_isGone() throws {
  var bases = Bases()
  let tools = bases.root.path(of: "tools")
  mkdir(tools, 0o755)
  try bases.write("command = ['tool']\nenvironment = { PATH = '\(tools)' }", to: "a.toml")
  try bases.write("command = ['other']\nenvironment = { PATH = '\(tools)' }", to: "b.toml")
  var warnings = ConfigurationWarnings(of: bases.configuration.reload().destinations)
  #expect(warnings.first(100).count == 2)
  symlink("/bin/sh", tools + "/tool")
  #expect(warnings.first(100).map(\.file) == [bases.path("b.toml")])
  #expect(warnings.first(1).isEmpty)
}

@Test("K1, N2: in a group with a fallback, an item that counts as shown before it is to be seen is a warning")
func configurationReport_unseenItemOfASign_isAWarning() throws {
  let bases = Bases()
  try bases.write(settings: "[groups.main]\nfallback = 'home'\n[groups.other]\nreplacement = 'overlap'\n")
  func warnings(_ name: String, _ text: String) throws -> Bool {
    try bases.write("command = ['/bin/sh']\n" + text, to: "\(name).toml")
    return ConfigurationReport(of: bases.root.path(of: "0")).text.contains(
      "\(name).toml: warning: the group “main” has a fallback, and this item counts as shown as soon as its program runs; "
    )
  }
  #expect(try warnings("home", ""))
  #expect(try !warnings("home", "window = true"))
  #expect(try warnings("page", "group = 'main'"))
  #expect(try !warnings("page", "group = 'main'\nwindow = { settle = '1s' }"))
  #expect(try !warnings("page", "group = 'main'\nready = 'notify'"))
  #expect(try !warnings("page", "group = 'other'"))
  #expect(try !warnings("page", ""))
}

@Test(arguments: ["rofi", "/usr/bin/wofi", "fuzzel", "dmenu", "walker", "xdg-open", "gtk-launch"])
func configurationReport_launcherWithoutItsScope_isAWarning(_ program: String) throws {
  let bases = Bases()
  let name = program.split(separator: "/").last!
  let warning = "warning: \(name): what it starts ends with it; if it is a launcher, add scope = \"process\""
  func warnings(_ text: String) throws -> Bool {
    try bases.write(text, to: "a.toml")
    return ConfigurationReport(of: bases.root.path(of: "0")).text.contains(warning)
  }
  #expect(try warnings("command = ['\(program)', '{id}']"))
  #expect(try warnings("command = ['\(program)']\nscope = 'tree'"))
  #expect(try !warnings("command = ['\(program)']\nscope = 'process'"))
  // This command is a menu, which prints what was chosen.
  #expect(try !warnings("command = ['\(program)', '-dmenu']"))
}

@Test(
  "N3: ending what is left of a program in which its user opens windows is a warning",
  arguments: [
    ("window = { windows = 'first', leftover = 'end' }", "leftover = \"end\""),
    ("scope = 'process'\nwindow = { kill = true }", "kill = true"),
    ("window = { leftover = 'end' }", nil), ("window = { windows = 'first' }", nil),
  ])
func configurationReport_leftoverWithUsersWindows_isAWarning(_ text: String, _ key: String?) throws {
  let bases = Bases()
  try bases.write("command = ['sh']\n\(text)", to: "a.toml")
  let report = ConfigurationReport(of: bases.root.path(of: "0")).text
  #expect(report.contains(" ends the program after the item's window") == (key != nil))
  if let key { #expect(report.contains("a.toml: warning: \(key) ends")) }
}

@Test("L3: after a mistake the last valid inline-commands counts, and at the start none are allowed")
func configuration_mistakeInSettings_switchesNothingOn() throws {
  var bases = Bases()
  let file = bases.root.path(of: "0/navd/navd.toml")
  #expect(bases.configuration.reload().inlineCommands == .allowed)
  try bases.write(settings: "inline-commands = false\n")
  #expect(bases.configuration.reload().inlineCommands == .switchedOff(file: file))
  try bases.write(settings: "inline-commands = false\n= 3\n")
  #expect(bases.configuration.reload().inlineCommands == .switchedOff(file: file))
  var another = Configuration(baseDirectories: [Array(bases.root.path(of: "0").utf8)])
  #expect(another.reload().inlineCommands == .undecided(file: file))
  try bases.write(settings: "")
  #expect(another.reload().inlineCommands == .allowed)
}

@Test func configurationWatch_changeNotSettled_isReportedAtOnceAndWhenItHasSettled() throws {
  var bases = Bases()
  _ = bases.reload()
  let loop = try EventLoop()
  var reports: [Bool] = []
  let watch = try ConfigurationWatch(loop) { reports.append($0) }
  try watch.follow(bases.configuration)
  #expect(!watch.reportPending())
  // The kernel has told of the change; the loop has not read that.
  try bases.write("style = 'one'", to: "a.toml")
  #expect(watch.reportPending() && reports == [false])
  #expect(!watch.reportPending() && reports == [false])
  try bases.write("", to: "note.txt")
  #expect(!watch.reportPending())
  #expect(loop.turn(until: { reports.count > 1 }, within: .seconds(20)))
  #expect(!watch.reportPending() && reports == [false, true])
  // A change that settles before somebody asks is reported once.
  try bases.write("style = 'two'", to: "a.toml")
  #expect(loop.turn(until: { reports.count > 2 }, within: .seconds(20)))
  #expect(!watch.reportPending() && reports == [false, true, true])
}

@Test("D15: while files are being written, one that is missing or empty keeps its last version")
func configuration_notSettled_keepsWhatIsAboutToBeWritten() throws {
  var bases = Bases(2)
  try bases.write("style = 'own'", to: "a.toml")
  try bases.write("style = 'system'", to: "a.toml", in: 1)
  try bases.write("style = 'b'", to: "b.toml")
  try bases.write(settings: "inline-commands = false\n")
  let isAllowed = { (content: Configuration.Content) in content.inlineCommands == .allowed }
  #expect(bases.reload() == Loaded(["a:own", "b:b"]))
  // Some editors write so: the old version gets another name, and the new one is made empty at first.
  try #require(rename(bases.path("a.toml"), bases.path("a.toml~")) == 0)
  try bases.write("", to: "b.toml")
  try bases.write("style = 'c'", to: "c.toml")
  try bases.write(settings: "")
  #expect(bases.reload(isSettled: false) == Loaded(["a:own", "b:b", "c:c"]))
  #expect(!isAllowed(bases.configuration.reload(isSettled: false)))
  try #require(unlink(bases.root.path(of: "0/navd/navd.toml")) == 0)
  #expect(!isAllowed(bases.configuration.reload(isSettled: false)))
  // The whole directory is gone for a moment while a program makes links to a new version of it.
  try #require(rename(bases.root.path(of: "0"), bases.root.path(of: "old")) == 0)
  #expect(bases.reload(isSettled: false) == Loaded(["a:own", "b:b", "c:c"]))
  try #require(rename(bases.root.path(of: "old"), bases.root.path(of: "0")) == 0)
  // After the changes have settled, the files say what the user wants.
  #expect(bases.reload() == Loaded(["a:system", "b:", "c:c"]))
  #expect(isAllowed(bases.configuration.reload()))
}

@Test("Links are followed to a directory, to another link, and to a file that is made later")
func configurationWatch_link_isFollowed() throws {
  var bases = Bases()
  let root = bases.root
  for directory in ["one", "two"] { mkdir(root.path(of: directory), 0o755) }
  try bases.write("style = 'one'", toPath: root.path(of: "one/a.toml"))
  try bases.write("style = 'two'", toPath: root.path(of: "two/a.toml"))
  // Programs replace a link by renaming another one to its name.
  func link(_ name: String, to target: String) {
    #expect(symlink(target, root.path(of: "new")) == 0 && rename(root.path(of: "new"), root.path(of: name)) == 0)
  }
  rmdir(root.path(of: "0/navd/destinations"))
  rmdir(root.path(of: "0/navd"))
  mkdir(root.path(of: "dotfiles"), 0o755)
  link("0/navd", to: "../dotfiles")
  link("dotfiles/destinations", to: "../current")
  link("current", to: root.path(of: "one"))

  let loop = try EventLoop()
  let watch = try ConfigurationWatch(loop) { _ in }
  #expect(bases.reload() == Loaded(["a:one"]))
  try watch.follow(bases.configuration)
  func expect(_ loaded: Loaded) throws {
    #expect(watch.reportPending())
    #expect(bases.reload() == loaded)
    try watch.follow(bases.configuration)
    #expect(!watch.reportPending())
  }
  link("current", to: "./two")
  try expect(Loaded(["a:two"]))
  link("0/navd", to: "other")
  try expect(Loaded([]))
  for directory in ["0/other", "0/other/destinations"] { mkdir(root.path(of: directory), 0o755) }
  try expect(Loaded([]))
  link("0/other/destinations/b.toml", to: "../../../later/b.toml")
  #expect(watch.reportPending() && bases.reload().faults.count == 1)
  try watch.follow(bases.configuration)
  mkdir(root.path(of: "later"), 0o755)
  #expect(watch.reportPending())
  try watch.follow(bases.configuration)
  try bases.write("style = 'three'", toPath: root.path(of: "later/b.toml"))
  try expect(Loaded(["b:three"]))
  // These links lead in a circle.
  link("later/b.toml", to: "c.toml")
  link("later/c.toml", to: "b.toml")
  #expect(watch.reportPending() && bases.reload().faults.count == 1)
  try watch.follow(bases.configuration)
}

@Test func configuration_nameThatIsNoBinding_isAWarning() throws {
  let bases = Bases()
  try bases.write("command = ['sh']", to: "my panel.toml")
  try bases.write("command = ['sh']", to: "panel.toml")
  let report = ConfigurationReport(of: bases.root.path(of: "0"))
  #expect(report.isFaultless)
  #expect(
    report.text == """
      \(bases.path("my panel.toml")): warning: an item cannot have the name “my panel”, which contains a blank; letters, digits, \
      _ and - are allowed; rename the file, or present another name with --to
      2 destinations, 0 container values, no mistakes
      """)
}
