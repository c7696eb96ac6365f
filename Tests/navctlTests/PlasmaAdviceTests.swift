import Testing

@testable import navctl

// The advice of navctl on KDE Plasma and on other desktops without an adapter.

@Test("On KDE Plasma, the advice is to install the desktop file, if it is missing")
func plasmaAdvice_withoutTheDesktopFile_saysSo() {
  let advice = PlasmaAdvice.of("KDE", isInstalled: false)
  #expect(advice?.contains("install applications/org.navd.navd-windows.desktop (install.sh of the release,") == true)
  #expect(PlasmaAdvice.of("my:KDE", isInstalled: false) == advice)
  #expect(PlasmaAdvice.of("KDE", isInstalled: true) == nil)
  #expect(PlasmaAdvice.of("KDEX", isInstalled: false) == nil)
  #expect(PlasmaAdvice.of("", isInstalled: false) == nil)
}

@Test("Without an adapter, the advice names a desktop that needs more than navd-windows, or for which there is none")
func adapterAdvice_ofADesktop_namesIt() {
  let start = "start navd-windows, e.g. systemctl --user enable --now navd-windows"
  #expect(DaemonClient.named("KDE") == "this is KDE Plasma: \(start) (package navd-windows)")
  #expect(DaemonClient.named("COSMIC") == "this is COSMIC, for which there is no adapter yet; see docs/windows.md")
  #expect(DaemonClient.named("sway", "sway").hasPrefix("this is sway: write “exec navd-windows” into"))
  #expect(DaemonClient.named("labwc:wlroots", "labwc").hasPrefix("this is labwc: "))
  #expect(DaemonClient.named("", "sway", isUnitEnabled: true).hasPrefix("its unit navd-windows.service is enabled"))
  #expect(DaemonClient.named("") == start)
}
