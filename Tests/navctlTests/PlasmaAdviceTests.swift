import Testing

@testable import navctl

// The advice of navctl on KDE Plasma and on other desktops without an adapter.

@Test("On KDE Plasma, the advice is to install the desktop file, if it is missing")
func plasmaAdvice_withoutTheDesktopFile_saysSo() {
  let file = "/usr/share/applications/org.navd.navd-windows.desktop"
  let directories = ["/home/me/.local/share", "/usr/share"]
  let advice = PlasmaAdvice.of("KDE", directories) { _ in false }
  #expect(advice?.contains("install applications/org.navd.navd-windows.desktop (package navd-windows,") == true)
  #expect(PlasmaAdvice.of("my:KDE", directories) { _ in false } == advice)
  #expect(PlasmaAdvice.of("KDE", directories) { $0 == file } == nil)
  #expect(PlasmaAdvice.of("KDE", ["/home/me/.local/share"]) { $0 == file } == advice)
  #expect(PlasmaAdvice.of("KDEX", directories) { _ in false } == nil)
  #expect(PlasmaAdvice.of("", []) { _ in false } == nil)
}

@Test("Without an adapter, the advice names a desktop that needs more than navd-windows, or for which there is none")
func adapterAdvice_ofADesktop_namesIt() {
  let start = "start navd-windows, e.g. systemctl --user enable --now navd-windows"
  #expect(DaemonClient.named("KDE") == "this is KDE Plasma: \(start) (package navd-windows)")
  #expect(DaemonClient.named("COSMIC") == "this is COSMIC, for which there is no adapter yet; see docs/windows.md")
  #expect(DaemonClient.named("sway") == start)
  #expect(DaemonClient.named("") == start)
}
