/// X window managers as desktops of the tests. To add one, add a case of `Desktop.Manager`, and its command here if it differs from
/// the name.
extension Desktop.Manager {
  /// The command line that starts the manager, with four workspaces if it has workspaces. The shell that runs it has its directory in
  /// `$directory`.
  private var xCommand: String {
    switch self {
    case .xfwm4: "xfwm4 --compositor=off"
    case .mutter: "mutter --x11 --sm-disable"
    case .metacity: "metacity --sm-disable"
    case .bspwm: "bspwm -c \"$directory/started.sh\""
    case .herbstluftwm: "herbstluftwm --autostart \"$directory/started.sh\""
    default: rawValue
    }
  }

  /// The commands that the manager runs at its start.
  private var configuring: String {
    switch self {
    case .bspwm: "bspc monitor -d 1 2 3 4"
    case .herbstluftwm:
      // A new window gets the focus, as in other managers.
      "herbstclient rename default 1; for tag in 2 3 4; do herbstclient add $tag; done; herbstclient rule focus=on"
    default: ""
    }
  }

  /// The script that starts the manager, and reports the display once the manager manages the windows.
  var xScript: String {
    #"""
    directory=$XDG_RUNTIME_DIR
    printf '#!/bin/sh\n%s\n' '\#(configuring)' >"$directory/started.sh"
    chmod +x "$directory/started.sh"
    mkdir -p "$XDG_CONFIG_HOME" "$HOME/bin"
    # That of fluxbox opens a window to say that it has no program for a background.
    printf '#!/bin/sh\n' >"$HOME/bin/fbsetbg"
    chmod +x "$HOME/bin/fbsetbg"
    printf '[Desktops]\nNumber=4\n' >"$XDG_CONFIG_HOME/kwinrc"
    (
      until xprop -root _NET_SUPPORTING_WM_CHECK | grep -q 'window id'; do sleep 0.02; done
      # dwm has none.
      [ '\#(rawValue)' = dwm ] || until xprop -root _NET_NUMBER_OF_DESKTOPS | grep -q '= [4-9]'; do sleep 0.02; done
      echo "$DISPLAY " >"$directory/displays"
    ) &
    exec \#(xCommand)
    """#
  }
}
