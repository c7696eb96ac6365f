import DBusValues
import Testing

@testable import navctl

// The advice of navctl on GNOME Shell.

@Test(
  "The advice for GNOME Shell depends on the state of the extension that it reports",
  arguments: [
    ([:], "install its extension (install.sh of the release, or package gnome-shell-extension-navd-windows), log out"),
    (["state": .double(2)], "this is GNOME Shell: run gnome-extensions enable navd-windows@navd.org"),
    (["state": .double(6)], "this is GNOME Shell: run gnome-extensions enable navd-windows@navd.org"),
    (["state": .double(4)], "is for other versions: install that of this version, then log out and in"),
    (["state": .double(3), "error": .string("oops")], "does not work: oops; see journalctl --user -b"),
    (["state": .double(3), "error": .string("")], "does not work; see journalctl --user -b"),
    (["state": .double(1), "error": .string("")], "is enabled, but does not answer yet: ask again in some seconds;"),
    (["state": .double(1), "error": .string("oops")], "does not work: oops; see journalctl --user -b"),
  ] as [(Properties, String)])
func gnomeShell_stateOfTheExtension_isAdvice(_ info: Properties, _ part: String) {
  let advice = GnomeShell.advice(info, isInstalled: false)
  #expect(advice.contains(part), "\(advice)")
}

@Test("If the extension is installed and GNOME Shell does not know it, the advice is to log out and in")
func gnomeShell_installedSinceTheLogin_isAdvisedToLogIn() {
  let advice = GnomeShell.advice([:], isInstalled: true)
  #expect(!advice.contains("install its"), "\(advice)")
  #expect(advice.contains(": log out and in, then run gnome-extensions enable navd-windows@navd.org"), "\(advice)")
}
