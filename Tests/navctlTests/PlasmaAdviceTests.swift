import Testing

@testable import navctl

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
