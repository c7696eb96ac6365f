import TextFormats

/// The scripts that KWin 5 and 6 run for the adapter. They call the method `Tell` of the adapter, with an event in JSON.
enum KWinScript {
  /// The beginning of every script.
  private static func opening(_ address: String) -> String {
    """
    const isNew = workspace.windowList !== undefined;
    const windows = () => isNew ? workspace.windowList() : workspace.clientList();
    const tell = event => callDBus(\(quotedForScript(address)), "/org/navd/KWin", "org.navd.KWin", "Tell", JSON.stringify(event));
    const ScreenArea = 7;
    // The outputs have names only in KWin 6. In both, they have a place.
    const areaOf = screen => isNew ? screen.geometry : workspace.clientArea(ScreenArea, screen, workspace.currentDesktop);

    """
  }

  /// Reports all windows, then `ready`, and then every change.
  static func following(_ address: String) -> String {
    opening(address) + """
      // A window that neither the task bar nor the switcher lists is a part of the desktop.
      const isPart = window => window.specialWindow || window.popupWindow || window.managed === false ||
          window.skipTaskbar && window.skipSwitcher;
      const isHere = window => window.onAllDesktops || (isNew
          ? window.desktops.length === 0 || window.desktops.includes(workspace.currentDesktop)
          : window.desktop === workspace.currentDesktop);
      const known = new Set();
      const facts = window => {
          const screen = isNew ? window.output : window.screen;
          const area = screen === null || screen === undefined || screen === -1 ? {x: 0, y: 0} : areaOf(screen);
          return {
              id: String(window.internalId), appID: String(window.desktopFileName || window.resourceClass),
              title: String(window.caption), pid: window.pid, x: area.x, y: area.y, isHere: isHere(window),
              parent: window.transientFor && known.has(String(window.transientFor.internalId))
                  ? String(window.transientFor.internalId) : "", focused: window.active,
              urgent: window.demandsAttention, fullscreen: window.fullScreen, minimized: window.minimized,
          };
      };
      const see = window => {
          if (known.has(String(window.internalId)) && !window.deleted)
              tell({window: facts(window)});
      };
      const open = window => {
          if (isPart(window))
              return;
          known.add(String(window.internalId));
          see(window);
          // A dialog may come before its window.
          windows().filter(other => other.transientFor === window).forEach(see);
          for (const name of [
              "captionChanged", "windowClassChanged", "desktopFileNameChanged", "minimizedChanged", "activeChanged",
              "fullScreenChanged", "demandsAttentionChanged", "transientChanged", "outputChanged", "screenChanged",
              "desktopsChanged", "desktopChanged",
          ]) {
              if (window[name] && window[name].connect)
                  window[name].connect(() => see(window));
          }
      };
      for (const window of windows())
          open(window);
      (isNew ? workspace.windowAdded : workspace.clientAdded).connect(open);
      (isNew ? workspace.windowRemoved : workspace.clientRemoved).connect(window => {
          if (known.delete(String(window.internalId)))
              tell({closed: String(window.internalId)});
      });
      workspace.currentDesktopChanged.connect(() => windows().forEach(see));
      tell({ready: true});

      """
  }

  /// Carries out a request for a window, and reports that it is done.
  /// - Parameters:
  ///   - place: the corner of the output that the request needs.
  static func request(_ request: WindowRequest, _ id: String, place: (x: Int, y: Int)?, _ address: String) -> String {
    let activate = "workspace[isNew ? 'activeWindow' : 'activeClient'] = window;"
    let send =
      place.map {
        """
        const screens = isNew ? workspace.screens : [...Array(workspace.numScreens).keys()];
        const screen = screens.find(screen => areaOf(screen).x === \($0.x) && areaOf(screen).y === \($0.y));
        if (screen !== undefined)
            workspace.sendClientToScreen(window, screen);

        """
      } ?? ""
    let action =
      switch request {
      case .close: "window.closeWindow();"
      case .activate: "window.minimized = false; \(activate)"
      case .hide: "window.minimized = true;"
      case .show: "window.minimized = false;"
      case .move: send
      case .summon:
        """
        if (isNew)
            window.desktops = [workspace.currentDesktop];
        else
            window.desktop = workspace.currentDesktop;
        \(send)window.minimized = false;
        \(activate)
        """
      }
    return opening(address) + """
      try {
          for (const window of windows().filter(window => String(window.internalId) === \(quotedForScript(id)))) {
      \(action)
          }
      } finally {
          tell({done: true});
      }

      """
  }

  private static func quotedForScript(_ text: String) -> String { JSON.string(text).text }
}
