# The common part of the descriptions of compositors with wlroots. Such a compositor tells its windows only by a protocol that wlrctl
# reads, and that does not tell outputs.

# The command that writes the variables of programs to the tests.
told='echo "WAYLAND_DISPLAY=$WAYLAND_DISPLAY DISPLAY=$DISPLAY" >"$NAVD_TEST_READY"'

without_gpu() {
  export LIBSEAT_BACKEND=noop WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 WLR_HEADLESS_OUTPUTS=2
  exec "$@"
}

# The lines of wlrctl, such as “editor: one”, for windows with a state.
listed() { wlrctl toplevel list "$@"; }

by_wlrctl() {
  case $1 in
    adapter) exec navd-windows --backend wlr ;;
    windows)
      jq --null-input --compact-output --arg all "$(listed)" --arg focused "$(listed state:focused)" \
        --arg hidden "$(listed state:minimized)" '
        def windows: split("\n") | map(select(. != ""));
        ($all | windows[]) as $line | ($line | capture("^(?<name>[^:]*): (?<title>.*)$")) |
        {id: "\(.name) \(.title)", "app-id": .name, title,
         focused: ($focused | windows | any(. == $line)), hidden: ($hidden | windows | any(. == $line))}' ;;
    minimize) [ $# = 1 ] || wlrctl toplevel minimize "app_id:${2%% *}" "title:${2#* }" ;;
    close | focus) wlrctl toplevel "$1" "app_id:${2%% *}" "title:${2#* }" ;;
    *) exit 3 ;;
  esac
}
