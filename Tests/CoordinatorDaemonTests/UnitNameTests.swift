import DBusValues
import EventLoops
import PresentationModel
import PresentationRules
import TestSupport
import Testing

@testable import CoordinatorDaemon

// Names of systemd units: placeholders, escapes, object paths and the release of the manager (D5).

@Test(
  "D5: placeholders in a unit's name are escaped as by systemd-escape",
  arguments: ["", "a", "a-b", "a/b", ".a", "a.b", "a b", "ü", "\\", "a@b:c_d", "/", "-", "%n$HOME\n", "notes[3].body"])
func unitName_escaped_equalsSystemdEscape(text: String) throws {
  let loop = try EventLoop()
  let program = try Program(loop, ["/usr/bin/systemd-escape", "--", text], environment: [:])
  try #require(loop.turn(until: { program.hasEnded }))
  #expect(UnitName.escaped(text.utf8) == program.lines.first)
}

@Test("A unit's object has the path that systemd gives it")
func unitName_path_isEscaped() throws {
  #expect(try UnitName("a.service").path == "/org/freedesktop/systemd1/unit/a_2eservice")
  #expect(
    try UnitName(#"7x@a\x2db.service"#).path == "/org/freedesktop/systemd1/unit/_37x_40a_5cx2db_2eservice")
}

@Test(
  "An invalid unit's name is refused with the reason",
  arguments: [
    ("pulsemixer", "type such as"), (".service", "a name before"), ("@.service", "a name before"),
    ("a@.service", "template"),
    ("a b.service", "“ ”"), ("ä.service", "“ä”"), ("a/b.service", "“/”"), ("x.scope", "scope"), ("", "type such as"),
    (String(repeating: "a", count: 248) + ".service", "at most 255 bytes, found 256"),
  ])
func unitName_invalid_saysWhy(text: String, why: String) {
  let mistake = #expect(throws: UnitName.Mistake.self) { try UnitName(text) }
  #expect(mistake?.why.contains(why) == true, "\(mistake?.why ?? "")")
}

@Test("D5: a destination's unit name contains the item's text, escaped")
func unitName_ofItem_containsItsText() throws {
  let destination = Destination(
    name: "mixer", presenter: .unit("mixer-{value.n}@{id}-{binding}.service"), source: .file(path: "mixer.toml"))
  var item = Item(id: "x/y z")
  item.value = ["n": .int32(-3)]
  let name = destination.unitName(for: item, at: try BindingID("a[1]"))
  #expect(name == #"mixer-\x2d3@x-y\x20z-a\x5b1\x5d.service"#)
}

@Test(
  "A manager's release is the number at the beginning of its version",
  arguments: [("252.38-1~deb12u1", 252), ("v249", 249), ("257~rc1", 257), ("unknown", nil)] as [(String, Int?)])
func systemdManager_release_isANumber(version: String, release: Int?) {
  #expect(SystemdManager.release(version) == release)
}
