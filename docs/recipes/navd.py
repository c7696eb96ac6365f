"""navd for a shell in Python, like panels.py. Copy this file; it needs navctl, and nothing else.

    import navd

    navd.toggle("calendar")                             # for a button or a key
    navd.watch(changed, "--group", "panels")            # changed(state): as navctl prints it, now and after each change

    def called(call):
        if call["call"] == "present":
            slide_in(call, then=lambda: shell.say(presented=call["presentation"]))
        elif call["call"] == "update":
            draw(call["item"])
        elif call["call"] == "dismiss":
            slide_out(call, then=lambda: shell.say(dismissed=call["presentation"]))

    shell = navd.Presenter(["calendar", "mixer"], called, "--group", "panels")
    shell.say(closed=17)                                # its user has closed it

What others may open by a name alone, with the types of ids and values. navd refuses everything else, and says what was expected:

    serves = {"shop.item": {"id": "Int", "value": "{count: Int}"}, "shop.tab.list": {"group": "shop.tab"}}
    shell = navd.Presenter(["shop"], called, serves=serves)
    try:
        navd.navctl("present", "shop.item", "3", "--value", "count=many")
    except navd.Refused as refusal:
        print(refusal)                                  # present shop.item: “shop.item”: expected count: Int, found “many”

A value that the types do not tell is refused by the program: shell.say(failed=17, error="expected a name").

navd waits for each answer, so a panel slides in when the one before it has slid out. `navctl help presenter` lists all lines. If
`navctl presenter` ends, what is shown is dismissed at once (forced, not animated), since navd ends it, too.

Lines are read in a thread of their own. `navd.run` calls a function in the thread of your toolkit; set it first:

    navd.run = GLib.idle_add                            # GTK; the function is called once
"""
import json
import subprocess
import threading


def run(function):
    function()


class Refused(Exception):
    """A request has failed. The text says why, and what was expected; status is that of navctl."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


def navctl(*arguments):
    """Runs navctl, and returns what it prints. Raises Refused if it fails."""
    run = subprocess.run(["navctl", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise Refused(run.stderr.strip().removeprefix("navctl: "), run.returncode)
    return run.stdout


def toggle(name, *options):
    """Opens what has this name, or closes it."""
    navctl("toggle", name, *options)


def select(group, tag, *options):
    """Opens a member of a group, and so closes the one that is open."""
    navctl("select", group, tag, *options)


def watch(changed, *filter):
    """Calls changed with the state: a dictionary with presentations, groups and stacks; running is False without navd."""
    _read(subprocess.Popen(["navctl", "watch", *filter], stdout=subprocess.PIPE, text=True), changed)


class Presenter:
    """Shows what is opened under these names.

    called gets each call of navd: a dictionary with call, presentation, and for "present" binding, id, destination and item.
    serves has what others may open by a name alone: the keys of Serve in docs/dbus.md, by names.
    """

    def __init__(self, names, called, *options, serves={}):
        command = ["navctl", "presenter", *names, *options]
        for name, accepts in serves.items():
            command += ["--serve", f"{name}:={json.dumps(accepts)}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.called, self.shown = called, set()
        _read(self.process, self._take, self._ended)

    def say(self, **line):
        """Writes an answer or a report, such as presented=17."""
        self.shown.discard(line.get("closed"))
        if self.process:
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()

    def _take(self, call):
        change = {"present": self.shown.add, "dismiss": self.shown.discard}.get(call["call"])
        if change:
            change(call["presentation"])
        self.called(call)

    def _ended(self):
        self.process = None
        for presentation in list(self.shown):
            self.called(
                {"call": "dismiss", "presentation": presentation, "reason": "failed", "animated": False, "forced": True})


def _read(process, take, ended=lambda: None):
    def read():
        for line in process.stdout:
            value = json.loads(line)
            run(lambda value=value: take(value) and None)
        run(lambda: ended() and None)

    threading.Thread(target=read, daemon=True).start()
