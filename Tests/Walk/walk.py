#!/usr/bin/python3
"""A random walk through the rules of docs/semantics.md with a real navd, compared with a naive model after each step.

    $ walk.py NAVD DIRECTORY [STEPS] [SEED]

DBUS_SESSION_BUS_ADDRESS names a private bus. The walk starts navd, kills it, and starts it again. Nothing here waits for
a time: a step is over when the state is what the model says, and has failed if it is not so within ten seconds.

A seed repeats the dice of each step, but not the whole walk: timeouts and restarts of items end at an instant of the real clock,
and a kill hits navd at an instant that the kernel chooses. What a step finds there can differ, and so can the next choices. Waiting
for each of them would repeat it exactly, and no request would meet an item whose time runs.
"""
import asyncio
import collections
import itertools
import os
import random
import signal
import sys
import time

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from model import NEVER, Destination, Model, Refused

NAME, OBJECT = "org.navd.Coordinator1", "/org/navd/Coordinator1"
LIMIT = 10  # seconds in which everything has to happen
MARGIN = 0.04  # seconds before something is due, in which the walk makes no request

TYPES = {
    "destination": "s", "value": "a{sv}", "container-values": "a{sv}", "title": "s", "from": "s", "group": "s", "tag": "s",
    "timeout": "t", "within": "t", "owned": "b", "if-busy": "s", "priority": "i", "known": "b", "force": "b", "remove": "as",
}
PLAIN = ["a", "b", "a.x", "a.y", "a.x.z", "b.x", "c[0]", "c[1]", "c[1].d"]
MEMBERS = ["g.m", "g.n", "a.m", "p", "q", "b.r"]
ELEMENTS = ["s", "t", "u", "a.v", "b.w"]
COMMAND = 'command = ["sh", "-c", "read status <$WALK/$NAVD_PRESENTATION; exit $status"]\nenvironment = { WALK = "%s" }\n'


class Fault(Exception):
    pass


def variant(options):
    def one(key, word):
        if TYPES[key] == "a{sv}":
            word = values(word)
        return Variant(TYPES[key], word)

    return {key: one(key, word) for key, word in options.items()}


def values(dictionary):
    return {key: Variant("i" if isinstance(word, int) else "s", word) for key, word in dictionary.items()}


def plain(value):
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(word) for key, word in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(word) for word in value]
    return value


def number(path):
    return int(path.rsplit("/", 1)[1])


class Walk:
    def __init__(self, navd, directory, seed):
        self.navd, self.directory = navd, directory
        self.dice = random.Random(seed)
        self.process = None
        self.model = Model()
        self.candidates = []
        self.handles = {}  # by token
        self.known = set()
        self.events = []  # of this step
        self.serial = None
        # A navd that is killed with a request under way may have recorded changes that it has not reported (R1).
        self.is_under_way = self.may_skip = self.has_skipped = False
        self.phases = {}
        self.calls = {}  # the calls to presenters that are to be answered, by handle
        self.stale = []  # calls that were overtaken
        self.changed = asyncio.Event()
        self.clients, self.presenters, self.moved = [], {}, {}
        self.live, self.on_screen = {}, {}  # the bindings and the phases of what is on the screen, by handle
        self.cookies = 0
        self.fifos = 0
        self.trace = collections.deque(maxlen=int(os.environ.get("NAVD_TEST_WALK_TRACE") or 60))
        self.kinds = collections.Counter()
        self.situations = collections.Counter()
        self.refusals = collections.Counter()
        self.faults = []
        self.written = 0.0  # when a file was written last

    # The session.

    async def connect(self):
        return await MessageBus(bus_address=os.environ["DBUS_SESSION_BUS_ADDRESS"]).connect()

    async def call(self, bus, member, signature="", body=(), check=True):
        reply = await bus.call(Message(
            destination=NAME, path=OBJECT, interface=NAME, member=member, signature=signature, body=list(body)))
        if check and reply.message_type == MessageType.ERROR:
            raise Fault(f"{member}{body}: {reply.error_name}: {reply.body}")
        return reply

    def write(self, path, text):
        path = f"{self.directory}/config/navd/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + "~", "w") as file:
            file.write(text)
        os.rename(path + "~", path)

    def configure(self):
        os.makedirs(self.directory + "/fifos")
        os.makedirs(self.directory + "/run", mode=0o700)
        command = COMMAND % (self.directory + "/fifos")
        again = 'restart-delay = "100ms"\nrestart-delay-max = "1h"\nrestart-limit = 2\n'
        self.write("navd.toml", '[groups.h]\nfallback = "home"\n[container-values]\nbadge = { signature = "i", default = 0 }\n')
        files = {
            "home": (Destination("home", "command", restart="always"), command + again + 'restart = "always"\n'),
            "cmd": (Destination("cmd", "command"), command),
            "again": (Destination("again", "command", restart="always"), command + again + 'restart = "always"\n'),
            "retry": (Destination("retry", "command", restart="on-failure"), command + again + 'restart = "on-failure"\n'),
            "member": (Destination("member", "command", group="g"), command + 'group = "g"\n'),
            "memo": (Destination("memo", holds={"dnd": "postpone", "quiet": "postpone"}), 'state = true\nholds = { dnd = "postpone", quiet = "postpone" }\n'),
            "secret": (Destination("secret", holds={"dnd": "dismiss"}), 'state = true\nholds = { dnd = "dismiss" }\n'),
            "offer": (Destination("offer", holds={"dnd": "refuse"}), 'state = true\nholds = { dnd = "refuse" }\n'),
            "curtain": (Destination("curtain", "command", own_hold="quiet"), command + 'hold = "quiet"\n'),
        }
        for name, (destination, text) in files.items():
            self.write(f"destinations/{name}.toml", text)
            self.model.destinations[name] = destination
        self.model.fallbacks["h"] = "home"

    async def start(self):
        environment = dict(
            os.environ, XDG_CONFIG_HOME=self.directory + "/config", XDG_RUNTIME_DIR=self.directory + "/run",
            XDG_STATE_HOME=self.directory + "/state", HOME=self.directory, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={self.directory}/none")
        self.owned.clear()
        self.process = await asyncio.create_subprocess_exec(
            self.navd, env=environment, stdin=asyncio.subprocess.DEVNULL, stderr=open(self.directory + "/log", "a"))
        await asyncio.wait_for(self.owned.wait(), LIMIT)

    async def kill(self):
        self.left.clear()
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        await asyncio.wait_for(self.left.wait(), LIMIT)

    async def begin(self):
        self.configure()
        self.owned, self.left = asyncio.Event(), asyncio.Event()
        self.watcher = await self.connect()
        for rule in (f"type='signal',interface='{NAME}'", f"type='signal',member='NameOwnerChanged',arg0='{NAME}'"):
            await self.watcher.call(Message(
                destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
                member="AddMatch", signature="s", body=[rule]))
        self.watcher.add_message_handler(self.hear)
        for _ in range(3):
            self.clients.append(await self.connect())
        self.model.begin(time.monotonic())
        self.make_fifos()
        await self.start()
        for name in ("bus0", "bus1"):
            self.model.destinations[name] = Destination(name, "bus")
            self.presenters[name] = await self.connect()
            self.presenters[name].add_message_handler(self.present(self.presenters[name]))
            await self.register(name)
        self.model.finish()
        self.candidates = [self.model]
        await self.settle()

    async def register(self, name):
        hours = Variant("t", 3_600_000)
        await self.call(self.presenters[name], "RegisterPresenter", "soa{sv}", [name, "/presenter", {"start-timeout": hours, "grace": hours}])

    def make_fifos(self):
        last = max(self.known, default=0)
        while self.fifos < last + 60:
            os.mkfifo(f"{self.directory}/fifos/{self.fifos}")
            self.fifos += 1
        old = min((self.handles[one.token] for one in self.model.alive() if one.token in self.handles), default=last)
        while getattr(self, "removed", 0) < old:
            self.removed = getattr(self, "removed", 0)
            os.unlink(f"{self.directory}/fifos/{self.removed}")
            self.removed += 1

    # What arrives.

    def hear(self, message):
        if message.member == "NameOwnerChanged":
            if message.body[2]:
                self.owned.set()
            else:
                self.may_skip = self.is_under_way
                self.left.set()
            return
        if message.message_type != MessageType.SIGNAL or message.interface != NAME:
            return
        try:
            self.take(message)
        except Fault as fault:
            self.faults.append(str(fault))
        self.changed.set()

    def take(self, message):
        member, body = message.member, message.body
        index = next((i for i, kind in enumerate(message.signature_tree.types) if kind.signature == "t"), None)
        if index is None:
            return  # DestinationsChanged
        serial = body[index]
        shown = f"{serial} {member} " + " ".join(str(plain(one)) for i, one in enumerate(body) if i != index)
        self.trace.append("    " + shown[:200])
        if self.serial is not None and serial != self.serial + 1:
            if not self.may_skip or serial <= self.serial:
                raise Fault(f"W1: after the serial {self.serial} comes {shown}")
            self.has_skipped = True
        self.may_skip = False
        self.serial = serial
        if member not in ("Presented", "Updated", "PhaseChanged", "Dismissed", "Declined"):
            return
        binding, handle = body[0], number(body[2])
        before = self.phases.get(handle)
        if before == "gone":
            raise Fault(f"P6: after its end: {shown}")
        phase = {"Presented": "presented", "Dismissed": "gone", "Declined": "presented", "Updated": before}.get(member) or body[4]
        allowed = {
            "Presented": (None, "waiting", "presenting"), "Updated": ("waiting", "presenting", "presented"), "Declined": ("dismissing",),
            "Dismissed": (None, "waiting", "presenting", "presented", "dismissing"),
        }.get(member) or {"waiting": (None,), "presenting": (None, "waiting"), "dismissing": ("presenting", "presented")}[phase]
        if member != "Updated" and before not in allowed and not self.has_skipped:
            raise Fault(f"phase {before}, then {shown}")
        self.phases[handle] = phase
        self.events.append((member, handle, binding, body[4] if member == "Dismissed" else phase, time.monotonic()))

    def present(self, bus):
        def handle(message):
            if message.message_type != MessageType.METHOD_CALL or message.interface != "org.navd.Presenter1":
                return
            handle = number(message.body[0])
            if message.member == "Update":
                return Message.new_method_return(message)
            self.trace.append(f"    {message.member} {handle} {str(plain(message.body[1:]))[:120]}")
            if message.member == "Present" and self.phases.get(handle) == "presented" and plain(message.body[3]).get("restored"):
                return Message.new_method_return(message)
            if handle in self.calls:
                self.stale.append(self.calls[handle])
            forced = message.member == "Dismiss" and bool(plain(message.body[2]).get("forced"))
            self.calls[handle] = (bus, message, message.member.lower(), forced)
            self.changed.set()
            return True

        return handle

    # Comparing.

    def described(self, model, handles):
        """The state of the model, in the words of GetState."""
        found = {}
        for one in model.alive():
            entry = {"binding": one.binding, "id": one.id, "phase": one.phase}
            if one.destination:
                entry["destination"] = one.destination.name
            for key in ("group", "tag", "title", "priority", "value", "restarts", "owner"):
                if getattr(one, key):
                    entry[key] = getattr(one, key)
            if one.container_values:
                entry["container-values"] = one.container_values
            place = model.place(one.binding) if model.is_current(one) else (one.stack, 0) if one.stack else None
            if place:
                entry["stack"] = place[0]
            if one.parent and model.by_token(one.parent):
                entry["parent"] = handles.get(one.parent)
            if one.is_asking:
                entry["asking"] = True
            if one.timeout:
                entry["timeout"] = round(one.timeout * 1000)
            found[handles.get(one.token)] = entry
        groups = {}
        for group in model.groups():
            entry = {"tags": model.tags(group), "queue": [one.tag for one in model.queue(group)]}
            if model.selected(group):
                entry["selection"] = model.selected(group).tag
            if any(entry.values()):
                groups[group] = entry
        stacks = {stack: [{"binding": binding, "id": model.slots[binding].id} for binding in path] for stack, path in model.paths.items()}
        calls = {handles.get(one.token): (one.call, one.is_forced and one.call == "dismiss") for one in model.alive() if one.call not in ("", "silent")}
        return {"presentations": found, "groups": groups, "stacks": stacks, "holds": sorted(model.holds_in_force()), "calls": calls}

    def observed(self, state):
        keys = ("binding", "id", "phase", "destination", "group", "tag", "title", "priority", "value", "restarts", "owner", "container-values", "stack", "parent", "asking", "timeout")
        found = {one["presentation"]: {key: one[key] for key in keys if key in one and one[key] not in ({}, "") or key == "id"} for one in state["presentations"]}
        groups = {}
        for name, group in state.get("groups", {}).items():
            entry = {"tags": sorted(group.get("tags", [])), "queue": group.get("queue", [])}
            if "selection" in group:
                entry["selection"] = group["selection"]
            if any(entry.values()):
                groups[name] = entry
        calls = {handle: (kind, forced) for handle, (_, _, kind, forced) in self.calls.items() if self.phases.get(handle) != "gone"}
        return {"presentations": found, "groups": groups, "stacks": state.get("stacks", {}), "holds": sorted(state.get("holds", [])), "calls": calls}

    def difference(self, model, state):
        """The differences between the state and the model; none if they agree."""
        handles = dict(self.handles)
        new = collections.defaultdict(set)
        for _, handle, binding, _, _ in self.events:
            if handle not in self.known:
                new[binding].add(handle)
        for one in state["presentations"]:
            if one["presentation"] not in self.known:
                new[one["binding"]].add(one["presentation"])
        tokens = collections.defaultdict(list)
        for token in model.created:
            tokens[model.bindings[token]].append(token)
        for binding in set(new) | set(tokens):
            unseen = [token for token in tokens[binding] if self.has_skipped and not model.by_token(token)]
            for token in unseen[: len(tokens[binding]) - len(new[binding])]:
                tokens[binding].remove(token)
            if len(new[binding]) != len(tokens[binding]):
                return f"new at {binding}: {sorted(new[binding])}, expected {len(tokens[binding])}", handles
            handles.update(zip(tokens[binding], sorted(new[binding])))
        logs = collections.defaultdict(list)
        for member, handle, _, word, _ in self.events:
            if member in ("Presented", "Declined", "Dismissed"):
                logs[handle].append((member.lower(), word if member == "Dismissed" else ""))
        expected = {handles[token]: log for token, log in model.log.items() if log and (token in handles or not self.has_skipped)}
        for handle in set(logs) | set(expected):
            seen, told = logs.get(handle, []), expected.get(handle, [])
            rest = len(told) - len(seen)
            # The events that were not reported are one run.
            are_skipped = self.has_skipped and rest > 0 and any(seen == told[:at] + told[at + rest :] for at in range(len(seen) + 1))
            if seen != told and not are_skipped:
                return f"{handle} went through {logs.get(handle, [])}, expected {expected.get(handle, [])}", handles
        told, seen = self.described(model, handles), self.observed(state)
        for kind in told:
            if told[kind] != seen[kind]:
                pairs = [(key, seen[kind].get(key), told[kind].get(key)) for key in {**told[kind], **seen[kind]} if seen[kind].get(key) != told[kind].get(key)] if isinstance(told[kind], dict) else [("", seen[kind], told[kind])]
                return "\n".join(f"{kind} {key}: {a}\n  expected {b}" for key, a, b in pairs), handles
        return "", handles

    def check_order(self, model, handles):
        """Checks after each event which presentations may be on the screen together (P13, C2, C3, S2, G1)."""
        tokens = {handle: token for token, handle in handles.items()}
        for member, handle, binding, word, _ in self.events:
            token = tokens.get(handle)
            about = model.facts.get(token)
            if about is None:
                raise Fault(f"{handle} at {binding} is nothing that the model knows")
            if member == "Presented" or word == "presenting":
                self.live[handle] = binding
                for other, at in self.live.items():
                    if other != handle and at == binding:
                        raise Fault(f"P3: {handle} began beside {other} at {binding}")
                    if other != handle and about["group"] and model.facts[tokens[other]]["group"] == about["group"]:
                        raise Fault(f"G1: {handle} began beside {other} in {about['group']}")
                if about["parent"] and self.on_screen.get(handles[about["parent"]]) != "presented":
                    raise Fault(f"C2: {handle} began before its parent {handles[about['parent']]}")
            if member == "Dismissed":
                self.live.pop(handle, None)
                self.on_screen.pop(handle, None)
                for other in self.live:
                    if model.facts[tokens[other]]["parent"] == token and not about.get("done"):
                        raise Fault(f"C3: {handle} ended before its child {other}")
            elif member != "Updated":
                self.on_screen[handle] = word

    def take_over(self):
        """Begins with the state after events that were not reported."""
        alive = {self.handles[one.token]: one for one in self.model.alive()}
        self.phases = {handle: alive[handle].phase if handle in alive else "gone" for handle in self.known}
        self.on_screen = {handle: one.phase for handle, one in alive.items()}
        self.live = {handle: one.binding for handle, one in alive.items() if one.phase != "waiting"}
        self.has_skipped = False

    async def settle(self):
        end = time.monotonic() + LIMIT
        while True:
            if self.faults:
                raise Fault("\n".join(self.faults))
            self.changed.clear()
            now = time.monotonic()
            for model in self.candidates:
                while (due := model.next_due()[0]) < now + MARGIN:
                    if due > now:
                        await asyncio.sleep(due - now)
                        now = time.monotonic()
                    model.pass_to(max(due, model.now))
                if model.is_slow and model.next_due()[0] > now + 1:
                    model.hurry()
            state = plain((await self.call(self.watcher, "GetState")).body[0])
            if self.may_skip and state["serial"] > self.serial:
                self.has_skipped, self.serial = True, state["serial"]
            self.may_skip = False
            found = []
            for model in self.candidates:
                difference, handles = self.difference(model, state)
                if not difference and self.serial in (None, state["serial"]):
                    self.model = model
                    self.handles = handles
                    self.known.update(handles.values())
                    self.serial = state["serial"]
                    if self.has_skipped:
                        self.take_over()
                    else:
                        self.check_order(model, handles)
                    for handle in [handle for handle in self.calls if self.phases.get(handle) == "gone"]:
                        self.stale.append(self.calls.pop(handle))
                    self.events = []
                    return
                found.append(difference or f"the serial is {state['serial']}, but the last signal had {self.serial}")
            if now > end:
                raise Fault("\nor\n".join(found))
            try:
                await asyncio.wait_for(self.changed.wait(), 0.1)
            except asyncio.TimeoutError:
                pass

    # Steps.

    async def perform(self, shown, action, *ways):
        before = self.model
        now = time.monotonic()
        self.trace.append(shown)
        result = await action()
        after = time.monotonic()
        self.candidates = []
        for is_slow, early, apply in itertools.product((False, True), (False, True), ways):
            if is_slow and not any(one.kind == "command" for one in before.alive()):
                break
            model = before.copied()
            model.begin(now)
            model.is_slow = is_slow
            if early:
                if before.next_due()[0] > after:
                    continue
                model.pass_to(after)
            rest = model.copied()
            outcome = None
            try:
                apply(model)
            except Refused as refusal:
                model, outcome = rest, refusal.codes
            if is_slow and model.next_due()[0] > after + 1:
                continue
            if result is None and outcome is None or result is not None and outcome and result in outcome:
                self.candidates.append(model)
        if result:
            self.refusals[result] += 1
        if not self.candidates:
            raise Fault(f"{shown}: {result or 'accepted'}, but the rules say {outcome or 'accepted'}")
        await self.settle()
        self.situations.update(set(self.model.situations))

    def requests(self, client, verb, arguments, signature, body, options):
        bus = self.clients[client]

        async def action():
            reply = await self.call(bus, verb, signature, body, check=False)
            if reply.message_type == MessageType.ERROR:
                self.trace.append(f"    {reply.error_name}: {str(reply.body)[:160]}")
                return reply.error_name.rsplit(".", 1)[1]

        return action, lambda model: model.request(bus.unique_name, verb, *arguments, options=options)

    def options(self, verb, binding, members):
        dice, options = self.dice, {}
        if dice.random() < 0.55:
            options["destination"] = dice.choice(["bus0", "bus0", "bus1", "bus1", "cmd", "again", "retry", "memo", "secret", "offer", "curtain"])
        if dice.random() < 0.25:
            options["value"] = {"text": str(dice.randrange(4))}
        if dice.random() < 0.1:
            options["container-values"] = {dice.choice(["badge"] * 9 + ["other"]): dice.randrange(3)}
        if dice.random() < 0.1:
            options["title"] = dice.choice(["one", "two"])
        if dice.random() < 0.12:
            options["timeout"] = dice.choice([0, 60, 120, 3_600_000])
        if dice.random() < 0.08:
            options["within"] = dice.choice([0, 60, 3_600_000])
        if dice.random() < 0.15:
            options["owned"] = dice.random() < 0.8
        if dice.random() < 0.12 and verb != "Select":
            options["from"] = dice.choice(PLAIN + MEMBERS)
        if dice.random() < 0.1:
            options["force"] = True
        if dice.random() < 0.1:
            options["known"] = dice.random() < 0.5
        if members:
            if verb == "Present" and dice.random() < 0.85:
                options["group"] = dice.choice("ggh")
            if dice.random() < 0.5:
                options["if-busy"] = dice.choice(["queue", "queue", "interrupt", "refuse", "replace"])
            if dice.random() < 0.2:
                options["priority"] = dice.randrange(-1, 3)
        return options

    def ask(self):
        dice = self.dice
        client = dice.randrange(3)
        force = {"force": True} if dice.random() < 0.1 else {}
        kind = dice.choices(
            ["Present", "member", "Toggle", "Update", "Dismiss", "DismissAll", "Select", "ToggleSelection", "Deselect", "Forget", "Push", "Pop", "PopTo", "SetPath"],
            [20, 16, 5, 5, 14, 1, 6, 4, 4, 1, 9, 3, 2, 4])[0]
        verb = "Present" if kind == "member" else kind
        if kind in ("Present", "Toggle", "Update", "Dismiss", "member"):
            pool = MEMBERS if kind == "member" else PLAIN + ["n0", "n1"]
            if kind in ("Dismiss", "Update"):
                pool = list(self.model.slots) or PLAIN
                pool = [one for one in pool if one != "home"] or PLAIN
            binding, id = dice.choice(pool), dice.choice(["", "", "1", "2"])
            if kind == "Dismiss":
                arguments, options, signature = [binding], force, "sa{sv}"
            elif kind == "Update":
                options = {}
                if dice.random() < 0.3:
                    options["container-values"] = {"badge": dice.randrange(3)}
                if dice.random() < 0.2:
                    options["timeout"] = dice.choice([0, 60, 3_600_000])
                if dice.random() < 0.2:
                    options["remove"] = ["text"]
                value = {dice.choice(["text", "more"]): str(dice.randrange(3))}
                arguments = [binding, value]
                body = [binding, values(value), variant(options)]
                return kind, client, verb, arguments, "sa{sv}a{sv}", body, options
            else:
                options = self.options(verb, binding, kind == "member")
                if binding[0] == "n" and dice.random() < 0.7:
                    options.pop("destination", None)
                arguments, signature = [binding, id], "ssa{sv}"
        elif kind == "DismissAll":
            scope, name = dice.choice([("all", ""), ("root", "a"), ("group", "g"), ("stack", "k")])
            options = force
            body = [{scope: Variant("b", True) if scope == "all" else Variant("s", name), **variant(options)}]
            return kind, client, verb, [scope, name], "a{sv}", body, options
        elif kind in ("Select", "ToggleSelection", "Deselect", "Forget"):
            group = dice.choice("ggh")
            tags = self.model.tags(group) + ["m", "x"]
            tag = dice.choice([one for one in tags if one != "home"])
            if kind == "Deselect" and dice.random() < 0.5:
                tag = ""
            arguments, signature = [group, tag], "ssa{sv}"
            options = self.options("Select", "", True) if kind in ("Select", "ToggleSelection") else {}
            if dice.random() < 0.6:
                options.pop("destination", None)
        else:
            stack = dice.choice("kkl")
            if kind == "Push":
                options = self.options("Push", "", False)
                arguments, signature = [stack, dice.choice(ELEMENTS), dice.choice(["", "1"])], "sssa{sv}"
            elif kind == "Pop":
                arguments, options, signature = [stack, dice.randrange(3)], force, "sua{sv}"
            elif kind == "PopTo":
                path = self.model.paths.get(stack, [])
                arguments, options, signature = [stack, dice.choice(path + ["", "s"])], force, "ssa{sv}"
            else:
                path = [(binding, self.model.slots[binding].id) for binding in self.model.paths.get(stack, [])]
                kept = path[: dice.randrange(len(path) + 1)]
                rest = [(binding, "") for binding in dice.sample(ELEMENTS, dice.randrange(3))]
                elements = [(binding, id, {}) for binding, id in kept]
                elements += [(binding, id, {"destination": dice.choice(["bus0", "bus1", "cmd"])} if dice.random() < 0.6 else {}) for binding, id in rest]
                options = force
                body = [stack, [[binding, id, variant(own)] for binding, id, own in elements], variant(options)]
                return kind, client, verb, [stack, elements], "sa(ssa{sv})a{sv}", body, options
        return kind, client, verb, arguments, signature, arguments + [variant(options)], options

    async def request(self):
        kind, client, verb, arguments, signature, body, options = self.ask()
        self.kinds[kind] += 1
        action, apply = self.requests(client, verb, arguments, signature, body, options)
        await self.perform(f"{self.clients[client].unique_name} {verb} {arguments} {options}", action, apply)

    async def answer(self):
        if not self.calls:
            return await self.request()
        handle = self.dice.choice(sorted(self.calls))
        bus, message, kind, forced = self.calls.pop(handle)
        token = next(token for token, other in self.handles.items() if other == handle)
        word = self.dice.choices(["ok", "error", "declined"], [6, 1, 4 if kind == "dismiss" else 0])[0]
        # An answer to a call that was overtaken counts for nothing.
        if self.stale and self.dice.random() < 0.7:
            other = self.stale.pop()
            self.reply(*other[:3], self.dice.choice(["ok", "error"]) if other[2] == "present" else "declined")
        self.kinds[f"answer {kind} {word}"] += 1

        async def action():
            self.reply(bus, message, kind, word)

        await self.perform(f"{kind} {handle}: {word}", action, lambda model: model.answer(model.by_token(token), word))

    def reply(self, bus, message, kind, word):
        if not bus.connected:
            return
        if word == "ok":
            bus.send(Message.new_method_return(message, "a{sv}" if kind == "dismiss" else "", [{}] if kind == "dismiss" else []))
        else:
            bus.send(Message.new_error(message, "org.navd.Error.Declined" if word == "declined" else "org.example.Stuck", "no"))

    async def ask_user(self):
        handles = [handle for handle, call in self.calls.items() if call[2] == "dismiss"]
        if not handles:
            return await self.answer()
        handle = self.dice.choice(sorted(handles))
        token = next(token for token, other in self.handles.items() if other == handle)
        self.kinds["asking"] += 1

        async def action():
            await self.call(self.calls[handle][0], "Asking", "os", [f"/org/navd/Coordinator1/presentation/{handle}", "?"])

        await self.perform(f"{handle} asks", action, lambda model: model.ask(model.by_token(token)))

    async def end(self):
        """Ends a presentation by itself, or reports it closed."""
        shown = [one for one in self.model.alive() if one.phase in ("presented", "dismissing") and not one.is_done and one.kind != "state"]
        shown += [one for one in self.model.slots.values() if one.phase == "presented" and one.kind == "state" and one.binding != "home"][:2]
        if not shown and self.dice.random() < 0.5:
            shown = [one for one in self.model.slots.values() if one.binding == "home"]
        if not shown:
            return await self.request()
        one = self.dice.choice(shown)
        token, handle = one.token, self.handles[one.token]
        if one.kind == "command":
            how = self.dice.choice(["exits", "exits", "is killed"]) if one.phase == "presented" else "exits"
            # Whether navd knows the signal (R2) shows in the reason, which is told only when all dependents have ended.
            if one.is_adopted and self.model.has_dependents(one):
                how = "exits"
            status = self.dice.choice([0, 3])
            self.kinds[f"command {how}"] += 1

            code = status

            async def action():
                if how == "exits":
                    await self.exit(handle, code)
                else:
                    state = plain((await self.call(self.watcher, "GetState")).body[0])
                    os.kill(next(entry["pid"] for entry in state["presentations"] if entry["presentation"] == handle), signal.SIGKILL)

            reason = "closed" if how == "exits" else "failed"
            ways = [lambda model: model.end(model.by_token(token), reason, status)]
            if one.is_adopted:
                # The status of an adopted command may be unknown (R2).
                ways.append(lambda model: model.end(model.by_token(token), "closed", 0))
            return await self.perform(f"{handle} {how} {status}", action, *ways)
        self.kinds[f"closed {one.kind}"] += 1
        bus = self.presenters[one.destination.name] if one.kind == "bus" else self.clients[0]

        async def action():
            await self.call(bus, "Closed", "oa{sv}", [f"/org/navd/Coordinator1/presentation/{handle}", {}])

        await self.perform(f"{handle} reported closed", action, lambda model: model.end(model.by_token(token), "closed"))

    async def exit(self, handle, status):
        end = time.monotonic() + LIMIT
        while True:
            try:
                descriptor = os.open(f"{self.directory}/fifos/{handle}", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                if time.monotonic() > end:
                    raise Fault(f"the command of {handle} does not read")
                await asyncio.sleep(0.001)
        os.write(descriptor, f"{status}\n".encode())
        os.close(descriptor)

    async def hold(self):
        if self.model.holders and self.dice.random() < 0.55:
            cookie = self.dice.choice(sorted(self.model.holders))
            self.kinds["release"] += 1

            async def action():
                await self.call(self.clients[0], "ReleaseHold", "t", [cookie])

            return await self.perform(f"release {cookie}", action, lambda model: model.end_hold(cookie))
        name, owned = self.dice.choice(["dnd", "dnd", "quiet"]), self.dice.random() < 0.3
        client = self.dice.choice(self.clients)
        cookies = []
        self.kinds["hold"] += 1

        async def action():
            cookies.append((await self.call(client, "Hold", "sa{sv}", [name, {"owned": Variant("b", owned)}])).body[0])

        await self.perform(
            f"{client.unique_name} holds {name}{' owned' if owned else ''}", action,
            lambda model: model.begin_hold(cookies[0], name, client.unique_name if owned else ""))

    async def leave(self):
        # The items that the client keeps are presented by a file that was written before, until none has been for 200 ms (D1, D15).
        index = self.dice.randrange(3)
        client = self.clients[index]
        if time.monotonic() - self.written < 3 and any(
                one.creator == client.unique_name and one.destination is None and one.binding in self.model.destinations
                for one in self.model.slots.values()):
            return await self.request()
        self.clients[index] = await self.connect()
        self.kinds["client leaves"] += 1

        async def action():
            client.disconnect()
            await client.wait_for_disconnect()

        await self.perform(f"{client.unique_name} leaves", action, lambda model: model.client_left(client.unique_name))

    async def reload(self):
        name = self.dice.choice(["n0", "n1"])
        is_there = name in self.model.destinations
        remove = is_there and self.dice.random() < 0.6
        title = self.dice.choice(["", "first", "second"])
        kind = self.dice.choice(["state", "command"])
        self.kinds["file removed" if remove else "file changed" if is_there else "file added"] += 1

        async def action():
            if remove:
                os.unlink(f"{self.directory}/config/navd/destinations/{name}.toml")
            else:
                text = "state = true\n" if kind == "state" else COMMAND % (self.directory + "/fifos")
                self.write(f"destinations/{name}.toml", text + (f'title = "{title}"\n' if title else ""))
            await self.call(self.watcher, "Reload")
            self.written = time.monotonic()

        await self.perform(
            f"{name} {'removed' if remove else kind + ' “' + title + '”'}", action,
            lambda model: model.load(name, None if remove else Destination(name, kind, title=title)))

    async def die(self):
        """Kills navd, at rest or with a request under way, and starts it again; meanwhile commands end."""
        in_flight = self.dice.random() < 0.5
        self.kinds["kill under way" if in_flight else "kill"] += 1
        commands = [one for one in self.model.alive() if one.kind == "command" and one.phase == "presented"]
        lost = [self.dice.choice(commands)] if commands and not in_flight and self.dice.random() < 0.5 else []
        state = plain((await self.call(self.watcher, "GetState")).body[0])
        pids = {entry["presentation"]: entry.get("pid") for entry in state["presentations"]}
        shown, apply = "navd is killed", None
        if in_flight:
            kind, client, verb, arguments, signature, body, options = self.ask()
            shown = f"{self.clients[client].unique_name} {verb} {arguments} {options}, and navd is killed"
            apply = lambda model: model.request(self.clients[client].unique_name, verb, *arguments, options=options)
        now = time.monotonic()
        if self.model.next_due()[0] < now + 1:
            return await self.request()
        self.trace.append(shown)
        if in_flight:
            self.clients[client].send(Message(
                destination=NAME, path=OBJECT, interface=NAME, member=verb, signature=signature, body=body))
            for _ in range(self.dice.randrange(4)):
                await asyncio.sleep(0)
        self.is_under_way = in_flight
        await self.kill()
        for one in lost:
            process = os.pidfd_open(pids[self.handles[one.token]])
            signal.pidfd_send_signal(process, signal.SIGKILL)
            ended = asyncio.Event()
            asyncio.get_running_loop().add_reader(process, ended.set)
            await asyncio.wait_for(ended.wait(), LIMIT)
            asyncio.get_running_loop().remove_reader(process)
            os.close(process)
        self.stale, self.calls = [], {}
        await self.start()
        for name in self.presenters:
            await self.register(name)
        self.candidates = []
        for is_slow, happens in itertools.product((False, True), (False, True) if in_flight else (False,)):
            model = self.model.copied()
            model.begin(now)
            model.is_slow = is_slow
            try:
                if happens:
                    apply(model)
            except Refused:
                continue
            model.restart([one.token for one in lost])
            if not is_slow or model.next_due()[0] < time.monotonic() + 1:
                self.candidates.append(model)
        await self.settle()
        # What a group remembers (G7) shows only later, so it forgets what the request may have changed.
        known = self.model.memory
        hidden = {key for other in self.candidates for key in other.memory.keys() | known.keys() if other.memory.get(key) != known.get(key)}
        for key in sorted(hidden):
            action, apply = self.requests(0, "Forget", key, "ssa{sv}", [*key, {}], {})
            await self.perform(f"Forget {key}", action, apply)
        for one in self.model.alive():
            # A command that waited in the model before the kill counts, too, since it may have begun just before.
            one.is_adopted = one.kind == "command" and one.phase != "waiting"
        self.situations.update(set(self.model.situations))

    async def move(self):
        """Has a presenter leave the bus, as a shell does that reloads itself, when its successor is there already."""
        name = self.dice.choice(["bus0", "bus1"])
        if time.monotonic() - self.moved.get(name, 0) < 2.5:
            return await self.request()
        self.moved[name] = time.monotonic()
        self.kinds["presenter leaves"] += 1
        old = self.presenters[name]
        begun = {one.token for one in self.model.alive() if one.phase != "waiting"}

        async def action():
            self.presenters[name] = await self.connect()
            self.presenters[name].add_message_handler(self.present(self.presenters[name]))
            await self.register(name)
            for handle in [handle for handle, call in self.calls.items() if call[0] is old]:
                del self.calls[handle]
            old.disconnect()
            await old.wait_for_disconnect()

        def apply(model):
            model.begun_before = begun
            model.presenter_left(name)

        await self.perform(f"the presenter of {name} leaves", action, apply)

    async def step(self):
        self.make_fifos()
        while self.model.next_due()[0] < time.monotonic() + 2 * MARGIN:
            self.model.begin(time.monotonic())
            self.candidates = [self.model]
            await self.settle()
            self.situations.update(set(self.model.situations))
        kind = self.dice.choices(
            [self.request, self.answer, self.end, self.hold, self.leave, self.reload, self.die, self.move, self.ask_user],
            [45, 30, 8, 5, 1.5, 2, 0.6, 0.5, 2])[0]
        await kind()

    async def run(self, steps, seed):
        start = time.monotonic()
        count = 0
        try:
            await self.begin()
            for count in range(1, steps + 1):
                self.dice.seed(f"{seed} {count}")
                await self.step()
            print(f"{steps} steps with NAVD_SEED={seed} in {time.monotonic() - start:.1f} s, {len(self.known)} presentations, serial {self.serial}")
            for title, counts in (("kinds", self.kinds), ("situations", self.situations), ("refusals", self.refusals)):
                print(f"{title}: " + ", ".join(f"{key} {number}" for key, number in sorted(counts.items())))
            return 0
        except Fault as fault:
            print(f"step {count} of NAVD_SEED={seed}; the last steps:\n" + "\n".join(self.trace) + f"\n{fault}")
            return 1
        finally:
            if self.process and self.process.returncode is None:
                try:
                    await asyncio.wait_for(self.call(self.watcher, "DismissAll", "a{sv}", [{"all": Variant("b", True), "force": Variant("b", True)}], check=False), LIMIT)
                finally:
                    self.process.kill()
                    await self.process.wait()


def main():
    navd, directory = sys.argv[1:3]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("NAVD_SEED") or time.time())
    sys.stdout.reconfigure(encoding="utf-8")

    async def walk():
        return await Walk(navd, directory, seed).run(steps, seed)

    sys.exit(asyncio.run(walk()))


if __name__ == "__main__":
    main()
