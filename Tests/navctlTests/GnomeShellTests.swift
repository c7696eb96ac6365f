import DBusValues
import Testing

@testable import navctl

// The advice of navctl on GNOME Shell.

@Test(
  "The advice for GNOME Shell depends on the state of the extension that it reports",
  arguments: [
    ([:], "install its extension (gnome-shell-extension-navd-windows, or make install), log out and in, then run"),
    (["state": .double(2)], "this is GNOME Shell: run gnome-extensions enable navd-windows@navd.org"),
    (["state": .double(6)], "this is GNOME Shell: run gnome-extensions enable navd-windows@navd.org"),
    (["state": .double(4)], "is for other versions: install that of this version, then log out and in"),
    (["state": .double(3), "error": .string("oops")], "does not work: oops; see journalctl --user -b"),
    (["state": .double(1), "error": .string("")], "does not work; see journalctl --user -b"),
  ] as [(Properties, String)])
func gnomeShell_stateOfTheExtension_isAdvice(_ info: Properties, _ part: String) {
  #expect(GnomeShell.advice(info).contains(part), "\(GnomeShell.advice(info))")
}
