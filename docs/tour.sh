#!/usr/bin/env bash
# docs/tour.sh [DIRECTORY OF THE BINARIES]: shows navd with real programs on a private bus; your session is not touched. On a desktop whose
# windows navd-windows knows, they are panels that open on it; elsewhere, the tour shows the process table.
# The tour is a test, too: it waits for events, never for a time, and exits with 1 at the first difference.
set -euo pipefail

binaries=$(realpath "${1:-.build/release}")
if [[ ${NAVD_TOUR:-} != inside ]]; then
  for program in navd navctl; do
    [[ -x $binaries/$program ]] || { echo "tour: expected $binaries/$program, found none; run: make build" >&2; exit 1; }
  done
  # Hides messages of the bus; descriptor 3 keeps standard error for the tour.
  exec env NAVD_TOUR=inside dbus-run-session -- bash "$0" "$binaries" 3>&2 2>/dev/null
fi
exec 2>&3 3>&-

# ── A private session ───────────────────────────────────────────────────────────────────────────────────────────────

# The name of a Wayland display is relative to the runtime directory of its session.
if [[ -n ${WAYLAND_DISPLAY:-} && $WAYLAND_DISPLAY != /* ]]; then export WAYLAND_DISPLAY=${XDG_RUNTIME_DIR:-}/$WAYLAND_DISPLAY; fi
home=$(mktemp -d "${TMPDIR:-/tmp}/navd-tour.XXXXXX")
export XDG_RUNTIME_DIR=$home/run XDG_CONFIG_HOME=$home/config XDG_CONFIG_DIRS=$home/none XDG_DATA_DIRS=$home/none
export PATH=$binaries:$PATH
destinations=$XDG_CONFIG_HOME/navd/destinations
mkdir -p "$XDG_RUNTIME_DIR" "$destinations"

navd_pid='' watch_pid='' sampler_pid='' windows_pid=''
finish() {
  local status=$? pid
  trap - EXIT
  # Quit ends all presentations, and then navd; a signal would leave them.
  [[ -z $navd_pid ]] || { timeout 20 navctl quit && timeout 20 tail --pid="$navd_pid" -f /dev/null; } 2>/dev/null || true
  for pid in $navd_pid $watch_pid $sampler_pid $windows_pid; do { kill "$pid" && wait "$pid"; } 2>/dev/null || true; done
  if ((status)) && [[ -s $home/navd.log ]]; then printf '\nThe log of navd:\n' >&2; cat "$home/navd.log" >&2; fi
  rm -rf "$home"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

# The “window”: it runs until SIGTERM, and then takes 300 ms to end, or until the file “hold” is removed, since 300 ms may be
# too short on a busy machine. SIGUSR1 is its user's click on ×.
cat >"$home/window" <<'WINDOW'
#!/usr/bin/env bash
directory=${0%/*}
trap 'sleep 0.3; while [[ -e $directory/hold ]]; do sleep 0.02; done; exit 0' TERM
trap 'kill %1; exit 0' USR1
echo "This is “$*”. navctl has opened it, and will close it."
"$directory/sleep" 1000 &
wait
WINDOW
# The stubborn one: it ignores SIGTERM, and starts another one in a session of its own that does the same.
cat >"$home/stubborn" <<'STUBBORN'
#!/usr/bin/env bash
trap '' TERM
if (($# == 0)); then setsid "$0" left-behind & fi
while :; do "${0%/*}/sleep" 1000; done
STUBBORN
chmod +x "$home/window" "$home/stubborn"
ln -s "$(command -v sleep)" "$home/sleep"

# ── Output ─────────────────────────────────────────────────────────────────────────────────────────────────────

if [[ -t 1 ]]; then bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' blue=$'\e[36m' plain=$'\e[0m'
else bold='' dim='' green='' red='' blue='' plain=''; fi

steps=0
step() {
  steps=$((steps + 1))
  printf '\n%s%d. %s%s\n' "$bold" "$steps" "$1" "$plain"
  shift
  local text
  for text; do printf '   %s%s%s\n' "$dim" "$text" "$plain"; done
}
line() { printf '   %s%-4s%s  %s\n' "$2" "$1" "$plain" "$3"; }
good() { printf '   %s✓%s     %s\n' "$green" "$plain" "$1"; }
fail() {
  printf '   %s✗     %s%s\n' "$red" "$1" "$plain" >&2
  exit 1
}

# run COMMAND…: shows a command and what it writes. Its output is in $said, its exit status in $status.
run() {
  local word words=''
  for word; do
    [[ $word == *[!a-zA-Z0-9/._:=-]* ]] && word="'$word'"
    words+=" $word"
  done
  line '$' "$bold" "${words# }"
  status=0
  said=$("$@" 2>&1) || status=$?
  if [[ -n $said ]]; then while IFS= read -r text; do line '' '' "$text"; done <<<"$said"; fi
}
succeeds() { run "$@"; ((status == 0)) || fail "expected exit status 0, found $status"; }

# next_event EXPECTED: waits for the next event, and shows it. That a group has another tag is left out.
next_event() {
  event='group '
  while [[ $event == 'group '* ]]; do
    IFS= read -r -t 30 -u "$watch" event || fail "expected the event “$1”, found none"
    event=$(sed 's/  */ /g; s/ $//' <<<"$event")
  done
  line navd "$blue" "$event"
}
# events EVENT…: waits until navd has announced exactly these, in this order, and shows them.
events() {
  local expected event
  for expected; do
    next_event "$expected"
    [[ $event == "$expected" ]] || fail "expected the event “$expected”, found “$event”"
  done
}
# The next events are these, in whatever order.
in_any_order() {
  local event missing=("$@")
  for ((; ${#missing[@]}; )); do
    next_event "${missing[*]}"
    [[ " ${missing[*]} " == *" $event "* ]] || fail "expected one of the events “${missing[*]}”, found “$event”"
    local left=() one
    for one in "${missing[@]}"; do [[ $one == "$event" ]] || left+=("$one"); done
    missing=("${left[@]}")
  done
}

# The running processes of the tour's programs in the process table: number, state, and command line.
table() {
  ps -eo pid=,stat=,args= |
    awk -v home="$home/" '$2 !~ /^Z/ && (at = index($0, home)) { print substr($0, 1, at - 1) substr($0, at + length(home)) }' |
    grep -E '(window|stubborn|sleep)' || true
}
show_table() {
  local row
  while IFS= read -r row; do line ps "$dim" "${row:-(none of these)}"; done < <(table | grep . || echo)
}
# processes COMMAND LINE: their numbers.
processes() { table | awk -v what="$*" '{ pid = $1; sub(/^ *[0-9]+ +[^ ]+ +/, ""); if ($0 == what) print pid }'; }
# await COMMAND LINE…: waits until these are all the processes of the tour, each once, and shows them.
await() {
  local end=$((SECONDS + 30)) expected
  expected=$(printf '%s\n' "$@" | sort)
  until [[ $(table | awk '{ $1 = $2 = ""; sub(/^ +/, ""); print }' | sort) == "$expected" ]]; do
    ((SECONDS < end)) || { show_table; fail "expected these processes: $(printf '“%s” ' "$@")"; }
  done
  show_table
}
nothing() { [[ -z $(table) ]] || { show_table; fail "expected no process of the tour"; }; }

# sample: starts to count the windows in the process table, repeatedly. at_once: the number of counts, and the greatest count.
sample() {
  : >"$home/samples"
  while :; do table | { grep -o 'window [0-9]*' || true; } | sort -u | wc -l; done >>"$home/samples" &
  sampler_pid=$!
  # Ensures a count before and after the next commands, even on a busy machine.
  looked_more
}
looked_more() {
  local end=$((SECONDS + 30)) looks
  looks=$(wc -l <"$home/samples")
  until (($(wc -l <"$home/samples") > looks + 1)); do
    ((SECONDS < end)) || fail 'expected another count of the process table, found none'
  done
}
at_once() {
  looked_more
  { kill "$sampler_pid" && wait "$sampler_pid"; } 2>/dev/null || true
  sampler_pid=''
  looks=$(wc -l <"$home/samples")
  most=$(sort -n "$home/samples" | tail -n 1)
}

# ── The tour ─────────────────────────────────────────────────────────────────────────────────────────────────────────

cat >"$destinations/window.toml" <<TOML
command = ["$home/window", "{id}"]
grace = "20s"
TOML
cat >"$destinations/stubborn.toml" <<TOML
command = ["$home/stubborn"]
grace = "500ms"
TOML
cat >"$destinations/fragile.toml" <<TOML
command = ["$home/sleep", "1000"]
TOML

# The terminal of this desktop, if there is one; each of its windows is the tour's.
terminal=()
if [[ -x $binaries/navd-windows ]]; then
  if [[ -n ${WAYLAND_DISPLAY:-} ]] && command -v foot >/dev/null; then terminal=(foot --app-id=navd-tour -e)
  elif [[ -n ${DISPLAY:-} ]] && command -v xterm >/dev/null; then terminal=(xterm -class navd-tour -e); fi
fi
# windows NUMBER: shows the windows of the tour, and expects so many.
windows() {
  succeeds navctl windows --app-id navd-tour
  local count
  count=$(grep -c . <<<"$said") || true
  ((count == $1)) || fail "expected $1 windows of the tour, found $count"
}
# look: waits until whoever watches has looked.
look() { if [[ -t 0 && -t 1 ]]; then read -rsp "   ${dim}      Look at the screen, and press Enter.$plain" && echo; fi; }

# start_windows: starts the adapter for the windows, and waits until it knows them. Fails where it knows no window system.
start_windows() {
  ((${#terminal[@]})) || return 1
  navd-windows 2>"$home/windows.log" &
  windows_pid=$!
  until navctl windows >/dev/null 2>&1; do
    kill -0 "$windows_pid" 2>/dev/null || { windows_pid=''; return 1; }
  done
}

# Two panels, which take turns, and a window whose item changes.
tour_of_panels() {
  local name
  for name in mixer wifi note; do
    cat >"$destinations/$name.toml" <<TOML
command = [$(printf '"%s", ' "${terminal[@]}")"$home/window", "$name"]
window = { app-id = "navd-tour", place = "top-right", size = "640 400", margin = 20 }
TOML
  done
  for name in mixer wifi; do sed -i '1i group = "panels"' "$destinations/$name.toml"; done
  sed -i 's/"note"/"note", "{id}"/' "$destinations/note.toml"

  step 'A panel opens, where its file says' 'This is what a key binding does.'
  succeeds cat "$destinations/mixer.toml"
  succeeds navctl toggle mixer
  events 'selection panels mixer' 'phase mixer presenting' 'presented mixer'
  windows 1
  look

  step 'Another panel of its group: the first one closes, and then this one opens'
  succeeds navctl toggle wifi
  # The next one begins when the window of the first one is gone, and the program of that ends at its own time.
  in_any_order 'selection panels wifi' 'phase mixer dismissing' 'phase wifi waiting' \
    'dismissed mixer deselected' 'phase wifi presenting' 'presented wifi'
  windows 1
  [[ $said == *wifi* ]] || fail 'expected the window to belong to “wifi”'
  look

  step 'Its user closes it, and every bar and script learns of it'
  # A terminal may show its window before it starts its program.
  click 'bash window wifi'
  in_any_order 'selection panels' 'dismissed wifi closed'
  windows 0
  run navctl is-presented wifi
  ((status == 3)) || fail "“navctl is-presented”: expected exit status 3, which means no, found $status"
  good 'the next press opens it again'

  step 'The same key twice opens it and closes it'
  succeeds navctl toggle wifi
  succeeds navctl wait wifi --for presented
  succeeds navctl toggle wifi
  in_any_order 'selection panels wifi' 'phase wifi presenting' 'presented wifi' 'selection panels' 'phase wifi dismissing' \
    'dismissed wifi dismissed'
  windows 0

  step 'An item changes: its window closes, and then the one of the next item opens'
  succeeds navctl open note 1
  events 'phase note 1 presenting' 'presented note 1'
  look
  succeeds navctl open note 2
  in_any_order 'phase note 1 dismissing' 'phase note 2 waiting' 'dismissed note 1 replaced' 'phase note 2 presenting' \
    'presented note 2'
  windows 1
  look
  succeeds navctl close note
  events 'phase note 2 dismissing' 'dismissed note 2 dismissed'
  windows 0
  nothing
  good 'no window and no process is left'
}

# click COMMAND LINE: closes a window as its user does, once its program is there.
click() {
  local end=$((SECONDS + 30))
  until [[ -n $(processes "$@") ]]; do ((SECONDS < end)) || fail 'expected the program in the terminal, found none'; done
  run kill -USR1 "$(processes "$@")"
}

# The same with the process table, where no windows can be seen.
tour_of_processes() {
  step 'An item is set, and its program starts' \
    'The slot “fact” gets the item with the id 1.' \
    '“window” shows it, a program that takes 300 ms to end.'
  succeeds navctl open fact 1 --to window
  events 'phase fact 1 presenting' 'presented fact 1'
  await 'bash window 1' 'sleep 1000'
  good 'presented, by a real process'

  step 'The same id again: an update, and nothing flickers'
  before=$(processes bash window 1)
  succeeds navctl open fact 1 --value text=hello
  events 'updated fact 1'
  succeeds navctl open fact 1 --value text=hello --json
  [[ $said == *'"changed":false'* ]] || fail 'expected no change by the same value'
  [[ $(processes bash window 1) == "$before" ]] || fail 'expected the same process'
  good "still process $before"

  step 'Another id: the old program ends, and only then the new one starts' \
    'Meanwhile the tour counts the windows in the process table as fast as it can.'
  sample
  succeeds navctl open fact 2 --to window
  events 'phase fact 1 dismissing' 'phase fact 2 waiting' 'dismissed fact 1 replaced' 'phase fact 2 presenting' \
    'presented fact 2'
  at_once
  await 'bash window 2' 'sleep 1000'
  ((most == 1)) || fail "expected at most one window at once, found $most in $looks counts"
  good "counted $looks times, and never two at once"

  step 'A → B → C in those 300 ms: B never starts' \
    'While 2 is ending, the slot is set to 3 and then to 4.' 'navd presents the item that it holds when 2 is gone.'
  touch "$home/hold"
  succeeds navctl open fact 3 --to window
  succeeds navctl open fact 4 --to window
  rm "$home/hold"
  events 'phase fact 2 dismissing' 'phase fact 3 waiting' 'dismissed fact 3 replaced' 'phase fact 4 waiting' \
    'dismissed fact 2 replaced' 'phase fact 4 presenting' 'presented fact 4'
  await 'bash window 4' 'sleep 1000'
  good '3 was never a process'

  step 'Its user closes it, and the slot becomes nil'
  run kill -USR1 "$(processes bash window 4)"
  events 'dismissed fact 4 closed'
  run navctl is-presented fact
  ((status == 3)) || fail "“navctl is-presented”: expected exit status 3, which means no, found $status"
  nothing
  good 'no client had to report it'

  step 'It crashes, and the slot becomes nil, too'
  succeeds navctl open fact 5 --to fragile
  events 'phase fact 5 presenting' 'presented fact 5'
  await 'sleep 1000'
  run kill -KILL "$(processes sleep 1000)"
  events 'dismissed fact 5 failed'
  nothing
  good 'the reason distinguishes the two'

  step 'Toggled, and toggled back' 'This is what a key binding does.'
  succeeds navctl toggle fact 6 --to window
  succeeds navctl wait fact --for presented
  succeeds navctl toggle fact
  events 'phase fact 6 presenting' 'presented fact 6' 'phase fact 6 dismissing' 'dismissed fact 6 dismissed'
  nothing
  good 'no process is left'

  step 'Two panels of one group: opening one closes the other'
  succeeds navctl open panels.volume 7 --to window --group panels
  events 'selection panels volume' 'phase panels.volume 7 presenting' 'presented panels.volume 7'
  await 'bash window 7' 'sleep 1000'
  sample
  succeeds navctl open panels.wifi 8 --to window --group panels
  events 'selection panels wifi' 'phase panels.volume 7 dismissing' 'phase panels.wifi 8 waiting' \
    'dismissed panels.volume 7 deselected' 'phase panels.wifi 8 presenting' 'presented panels.wifi 8'
  at_once
  await 'bash window 8' 'sleep 1000'
  ((most == 1)) || fail "expected at most one window at once, found $most in $looks counts"
  good "counted $looks times, and never two at once"
  succeeds navctl deselect panels
  events 'selection panels' 'phase panels.wifi 8 dismissing' 'dismissed panels.wifi 8 deselected'
  nothing
  good 'and none of them is selected now'

  step 'A question, and its answer' 'navd returns the output of a command to the clients that wait for it.'
  run navctl open question 10 --wait --propagate -- bash -c 'echo forty-two; exit 3'
  [[ $said == forty-two ]] || fail "expected the answer “forty-two”, found “$said”"
  ((status == 3)) || fail "expected the exit status 3 of the command, found $status"
  events 'phase question 10 presenting' 'presented question 10' 'dismissed question 10 closed'
  good 'its output, and its exit status'

  step 'A program that does not end' \
    'It ignores SIGTERM, and so does a process that it has started in a session of its own.' \
    'Its destination has a grace period of 500 ms.'
  succeeds navctl open fact --to stubborn
  succeeds navctl wait fact --for presented
  await 'bash stubborn' 'sleep 1000' 'bash stubborn left-behind' 'sleep 1000'
  succeeds navctl close fact
  events 'phase fact presenting' 'presented fact' 'phase fact dismissing' 'dismissed fact dismissed'
  show_table
  nothing
  good 'all four are gone'
  printf '\n   %sOn a desktop whose windows navd-windows knows, such as sway or i3, and with foot or xterm, the tour shows panels.%s\n' \
    "$dim" "$plain"
}

cat <<INTRODUCTION
${bold}navd, a tour$plain

   $bold\$$plain     a command, and its output
   ${blue}navd$plain  an event that navd announces to all watchers
   ${dim}ps$plain    the process table
INTRODUCTION

exec {watch}< <(exec navctl watch --events --format '{event} {binding}{group} {id}{tag} {phase}{reason}')
watch_pid=$!
navd 2>"$home/navd.log" &
navd_pid=$!

step 'A session in which nothing is shown' \
  'navd has started on a private bus, and its watchers get an empty state.'
events state
succeeds navctl list
[[ -z $said ]] || fail "expected no presentation, found “$said”"

if start_windows; then tour_of_panels; else tour_of_processes; fi

step 'A file with a mistake' 'The version loaded before stays in effect.'
printf 'comand = ["%s/window"]\n' "$home" >"$destinations/window.toml"
run navctl reload
((status == 1)) || fail "expected exit status 1, found $status"
[[ $said == *'window.toml:1:1: “comand” is not a key of a destination; did you mean “command”?'* ]] ||
  fail 'expected the mistake with its file and line'
succeeds navctl open fact 9 --to window
events 'phase fact 9 presenting' 'presented fact 9'
await 'bash window 9' 'sleep 1000'
good 'reported, and nothing lost'

step 'The end' '“navctl quit” ends everything.'
succeeds navctl quit
events 'phase fact 9 dismissing' 'dismissed fact 9 shutdown'
wait "$navd_pid" || fail "expected exit status 0 of navd, found $?"
navd_pid=''
show_table
nothing
good 'no process is left'

printf '\n%s%d steps, all as expected.%s\n' "$green$bold" "$steps" "$plain"
