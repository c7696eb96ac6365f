"""A naive model of what navd promises, written from docs/semantics.md alone.

It knows no record, no bus and no clock but the one that it is given. It says what the state has to be once everything that
is not held back has come to rest: state only and commands are shown and gone at once, presenters on the bus when the walk
answers for them.
"""
import copy
from dataclasses import dataclass, field, replace

FORCING = {"closed", "failed", "lost", "owner", "shutdown"}  # the reasons for which nobody may decline (P15)
NEVER = float("inf")


class Refused(Exception):
    """A refused request. If it has several faults, the rules do not say which one is reported."""

    def __init__(self, *codes):
        super().__init__(*codes)
        self.codes = set(codes)


@dataclass
class Destination:
    name: str
    kind: str = "state"  # or command, bus
    group: str = ""
    title: str = ""
    holds: dict = field(default_factory=dict)
    restart: str = ""  # when an item is presented again (K3)
    delay: float = 0.1
    limit: int = 2
    own_hold: str = ""  # the hold of the destination itself (H8)

    def __deepcopy__(self, memo):
        return self


@dataclass
class Showing:
    """A presentation with its item."""

    token: int
    binding: str
    id: str
    destination: Destination | None = None
    value: dict = field(default_factory=dict)
    container_values: dict = field(default_factory=dict)
    title: str = ""
    timeout: float = 0  # seconds
    owner: str = ""
    creator: str = ""
    priority: int = 0
    group: str = ""
    tag: str = ""
    is_state_meant: bool = False
    holds: dict = field(default_factory=dict)
    queued_at: int | None = None
    may_queue_at: int | None = None
    is_interrupted: bool = False
    parent: int | None = None
    named_parent: bool = False
    from_binding: str | None = None
    phase: str = "waiting"
    reason: str = ""
    stack: str = ""
    index: int = 0
    below: int | None = None
    is_forced: bool = False
    is_asking: bool = False
    is_adopted: bool = False  # whether its exit status may be unknown (R2)
    is_done: bool = False  # whether its presenter has reported the end
    call: str = ""  # the call to a presenter on the bus that is not yet answered
    presented_at: float = 0
    expires_at: float = NEVER
    left: float | None = None
    patience: float = NEVER  # until when it may wait (H6)
    restarts: int = 0
    due: float = 0  # when it comes again (K3)

    @property
    def kind(self):
        return self.destination.kind if self.destination else "state"

    @property
    def order(self):
        """The place in a queue (G9, K2)."""
        return (0, -self.queued_at, 0) if self.is_interrupted else (1, -self.priority, self.queued_at)


def ancestors(binding):
    """The bindings from which a binding derives, the nearest first (B3)."""
    for index in range(len(binding) - 1, 0, -1):
        if binding[index] in ".[":
            yield binding[:index]


class Model:
    def __init__(self):
        self.slots = {}
        self.going = []
        self.paths = {}
        self.memory = {}
        self.holders = {}  # the name and the owner of each cookie
        self.destinations = {}
        self.fallbacks = {}
        self.gone_clients = set()
        self.last_token = 0
        self.last_queued = 0
        self.now = 0.0
        self.is_slow = False  # whether commands take longer to end than the next deadline
        # The presentations that this step has created, and the log of each, by token.
        self.created = []
        self.log = {}
        self.situations = []
        self.bindings = {}
        self.facts = {}
        self.begun_before = set()
        # The state of this request.
        self.new = []
        self.kept_groups = set()
        self.ended = {}

    def copied(self):
        return copy.deepcopy(self)

    def note(self, rule):
        self.situations.append(rule)

    def begin(self, now):
        self.now = now
        self.created, self.log, self.situations, self.bindings = [], {}, [], {}
        alive = {one.token for one in self.alive()}
        self.facts = {token: fact for token, fact in self.facts.items() if token in alive}

    # Reading.

    def alive(self):
        return list(self.slots.values()) + self.going

    def has_dependents(self, one):
        """Whether others end before an item does: its children, and what is above it in its stack."""
        place = self.place(one.binding)
        return bool(place) and place[1] + 1 < len(self.paths[place[0]]) or any(other.parent == one.token for other in self.alive())

    def by_token(self, token):
        return next((one for one in self.alive() if one.token == token), None)

    def is_current(self, one):
        return self.slots.get(one.binding) is one

    def selected(self, group):
        return next((one for one in self.slots.values() if one.group == group and one.queued_at is None), None) if group else None

    def queue(self, group):
        return sorted((one for one in self.slots.values() if one.group == group and one.queued_at is not None), key=lambda one: one.order)

    def groups(self):
        names = {one.group for one in self.slots.values() if one.group} | {key[0] for key in self.memory} | set(self.fallbacks)
        return names | {one.group for one in self.destinations.values() if one.group}

    def tags(self, group):
        declared = {one.name for one in self.destinations.values() if one.group == group}
        return sorted(declared | {tag for name, tag in self.memory if name == group})

    def place(self, binding):
        return next(((stack, path.index(binding)) for stack, path in self.paths.items() if binding in path), None)

    def holds_in_force(self):
        names = {name for name, _ in self.holders.values()}
        return names | {one.destination.own_hold for one in self.alive() if one.destination and one.destination.own_hold and one.phase != "waiting"}

    def hold(self, one):
        """The strongest action of the holds in force for an item (H3)."""
        own = one.destination.own_hold if one.destination else ""
        words = {one.holds.get(name, "show") for name in self.holds_in_force() if name != own}
        return next((word for word in ("refuse", "dismiss", "postpone") if word in words), "show")

    def is_fallback(self, one):
        return bool(one.group) and self.fallbacks.get(one.group) == one.tag

    def can_be_parent(self, binding):
        return binding in self.slots and self.slots[binding].queued_at is None

    def implied_parent(self, binding):
        return next((one for one in ancestors(binding) if self.can_be_parent(one)), None)

    def dependencies(self, binding):
        found, open_ = set(), [binding]
        while open_:
            one = self.slots.get(open_.pop())
            if one is None:
                continue
            parent = self.by_token(one.parent) if one.parent else None
            below = [parent.binding] if parent and self.is_current(parent) else []
            place = self.place(one.binding)
            if place and place[1] > 0:
                below.append(self.paths[place[0]][place[1] - 1])
            open_ += [other for other in below if other not in found]
            found.update(below)
        return found

    def is_nobodys(self, one):
        """Whether an item is state only, and nobody keeps it as that (D1)."""
        return one.destination is None and not one.is_state_meant and not one.owner and one.creator in self.gone_clients

    # Ending.

    def clear(self, binding, reason):
        one = self.slots.get(binding)
        if one is None:
            return
        place = self.place(binding)
        if place:
            for other in reversed(self.paths[place[0]][place[1] + 1 :]):
                self.note("S2")
                self.clear(other, "popped")
            place = self.place(binding)
        self.lose_children(one)
        if self.slots.get(binding) is not one:
            return
        if place:
            one.stack, one.index = place
            one.below = self.slots[self.paths[place[0]][place[1] - 1]].token if place[1] else None
            self.paths[place[0]].remove(binding)
            if not self.paths[place[0]]:
                del self.paths[place[0]]
        del self.slots[binding]
        self.ended[one.token] = one
        one.reason = reason
        if one in self.new:
            self.new.remove(one)
        # A tag of an item that nobody keeps is forgotten with it (G7).
        key = (one.group, one.tag)
        known = self.memory.get(key)
        if known and self.is_nobodys(one) and known == (f"{one.group}.{one.tag}", "", {}) and known[0] == binding:
            self.note("G7 forgotten")
            del self.memory[key]
        if one.phase == "waiting":
            self.vanish(one)
            return
        one.is_forced = one.phase != "presented" or reason in FORCING
        one.left = one.expires_at - self.now if self.now < one.expires_at < NEVER and reason != "expired" else None
        one.expires_at = NEVER
        one.phase = "dismissing"
        one.call = ""
        self.going.append(one)

    def lose_children(self, one):
        for child in [other for other in self.slots.values() if other.parent == one.token]:
            if self.slots.get(child.binding) is child:
                self.note("C3")
                self.clear(child.binding, "parent")

    def vanish(self, one):
        if one in self.going:
            self.going.remove(one)
        self.log.setdefault(one.token, []).append(("dismissed", one.reason))

    def force(self, tokens):
        forced = set(tokens)
        for one in self.going:
            if one.token in forced and not one.is_forced:
                self.enforce(one)
        while True:
            names = {one.token for one in self.going if one.is_forced}
            rest = [one for one in self.going if not one.is_forced and names & {one.parent, one.below}]
            if not rest:
                return
            for one in rest:
                self.enforce(one)

    def enforce(self, one):
        self.note("P15 forced")
        one.is_forced, one.is_asking = True, False

    def finish(self):
        """Carries out the consequences of a request, or of anything else that happens."""
        self.settle()
        for one in self.ended.values():
            # Within a stack, popped has precedence over parent (S8).
            if one.reason == "parent" and one.below in self.ended and one.below is not None:
                self.note("S8")
                self.replace_reason(one, "popped")
        self.force([])
        for one in self.alive() + list(self.ended.values()):
            self.facts[one.token] = {"group": one.group, "parent": one.parent, "done": one.is_done}
        kept, self.ended, self.new, self.kept_groups = self.kept_groups, {}, [], set()
        self.carry_out()
        # What waited for the hold of an item that is gone comes before a fallback (H8).
        self.fall_back(kept)
        self.carry_out()
        for one in self.alive():
            self.facts[one.token] = {"group": one.group, "parent": one.parent, "done": one.is_done}

    def carry_out(self):
        while True:
            before = self.holds_in_force()
            self.advance()
            if before == self.holds_in_force():
                break
            # An item with a hold has come to the screen, or left it (H4, H8).
            self.settle()
            self.new = []

    def replace_reason(self, one, reason):
        one.reason = reason
        log = self.log.get(one.token, [])
        if log and log[-1][0] == "dismissed":
            log[-1] = ("dismissed", reason)

    # Settling.

    def settle(self):
        while self.serve():
            pass
        for one in list(self.new):
            self.find_parent(one)

    def fall_back(self, kept_groups):
        for group, name in self.fallbacks.items():
            if self.selected(group) is None and group not in kept_groups and name not in self.slots:
                self.note("K1")
                self.create(name, "", self.destinations[name], {}, "", group=group, tag=name)
                self.memory[(group, name)] = (name, "", {"destination": name})
        for one in self.new:
            self.find_parent(one)
        self.new = []

    def serve(self):
        for group in sorted({one.group for one in self.slots.values() if one.queued_at is not None} - self.kept_groups):
            waiting = [one for one in self.queue(group) if self.hold(one) == "show"]
            if not waiting:
                continue
            other = self.selected(group)
            if other and self.is_fallback(other):
                self.note("K1 gives way")
                self.clear(other.binding, "deselected")
                return True
            if other is None:
                self.note("G9 served")
                waiting[0].queued_at = None
                return True
        return False

    def find_parent(self, one):
        if one.from_binding is not None:
            if not self.can_be_parent(one.from_binding):
                raise Refused("NotPresented", "InvalidArgument")
            parent, one.named_parent = one.from_binding, True
        else:
            parent, one.named_parent = self.implied_parent(one.binding), False
        one.parent = self.slots[parent].token if parent else None
        below = self.dependencies(one.binding)
        if one.binding in below or one.group and any(self.slots[other].group == one.group for other in below):
            raise Refused("InvalidArgument")

    # Presenting.

    def create(self, binding, id, destination, options, client, group="", tag="", is_placed=True):
        self.last_token += 1
        one = Showing(self.last_token, binding, id, destination, creator=client, group=group, tag=tag)
        one.title = destination.title if destination else ""
        one.holds = dict(destination.holds) if destination else {}
        self.created.append(one.token)
        self.bindings[one.token] = binding
        self.take(one, options, client)
        if is_placed:
            self.slots[binding] = one
            self.new.append(one)
        return one

    def again(self, old, **changes):
        """Returns the item of an earlier presentation under a new handle."""
        self.last_token += 1
        one = replace(
            old, token=self.last_token, phase="waiting", reason="", stack="", below=None, is_forced=False, is_asking=False,
            is_done=False, is_adopted=False, call="", expires_at=NEVER, patience=NEVER, presented_at=0)
        one.from_binding = None
        for key, word in changes.items():
            setattr(one, key, word)
        self.slots[one.binding] = one
        self.created.append(one.token)
        self.bindings[one.token] = one.binding
        self.new.append(one)
        return one

    def take(self, one, options, client):
        before = (dict(one.value), dict(one.container_values), one.title, one.owner, one.priority)
        if "value" in options:
            one.value = dict(options["value"])
        if "container-values" in options:
            one.container_values = dict(options["container-values"])
        if "title" in options:
            one.title = options["title"]
        if "priority" in options:
            one.priority = options["priority"]
        if "owned" in options:
            one.owner = client if options["owned"] else ""
        if "timeout" in options:
            one.timeout = options["timeout"] / 1000
            one.left = None
            if one.phase == "presented":
                self.note("O2 again")
                one.expires_at = self.now + one.timeout if one.timeout else NEVER
        if "within" in options and one.phase == "waiting" and not one.restarts:
            one.patience = self.now + options["within"] / 1000 if options["within"] else NEVER
        if "from" in options:
            one.from_binding = options["from"]
        if options.get("known") is False and one.destination is None:
            one.is_state_meant = True
        return before != (one.value, one.container_values, one.title, one.owner, one.priority)

    def present(self, client, binding, id, options, stack="", is_known_tag=False):
        destination = self.destinations.get(options.get("destination", binding))
        if "destination" in options and destination is None:
            raise Refused("UnknownDestination", "InvalidArgument")
        held = self.slots.get(binding)
        place = self.place(binding)
        if stack and place and (place[0] != stack or self.paths[stack][-1] != binding):
            raise Refused("AlreadyInStack", "InvalidArgument", "UnknownDestination", "UnknownContainerValue")
        is_late = (
            held is not None and options.get("known") is True and held.destination is None
            and options.get("destination", binding) == binding and destination is not None)
        if set(options.get("container-values", {})) - {"badge"}:
            raise Refused("UnknownContainerValue")
        if held and held.id == id and not is_late:
            return self.present_again(client, held, options, stack)
        if options.get("known") is True and destination is None and not is_known_tag:
            raise Refused("UnknownDestination", "UnknownTag")
        group = options.get("group") or (destination.group if destination else "")
        tag = ""
        if group:
            start = group + "."
            tag = options.get("tag") or (binding[len(start) :] if binding.startswith(start) else binding)
            if any(one.group == group and one.tag == tag and one.binding != binding for one in self.slots.values()):
                raise Refused("InvalidArgument")
        elif options.get("tag"):
            raise Refused("InvalidArgument")
        stack = stack or (place[0] if place else "")
        if options.get("if-busy") == "queue" and stack:
            raise Refused("InvalidArgument")
        if options.get("from") == binding:
            raise Refused("InvalidArgument", "NotPresented")
        one = self.create(binding, id, destination, options, client, group, tag, is_placed=False)
        if self.hold(one) == "refuse":
            self.note("H3 refused")
            raise Refused("Held", "Busy")
        # The selected member gives way for this reason, even if it would end with the item of the slot (P12).
        if group:
            self.judge(one, options, bool(stack), stack)
        if held:
            self.note("D1 known" if is_late else "S4" if place else "P3")
            self.clear(binding, "replaced")
            self.replace_reason(held, "replaced")
        self.slots[binding] = one
        self.new.append(one)
        if group:
            self.memory.pop((group, tag), None)
            self.memory[(group, tag)] = (binding, id, remembered(options))
        if stack:
            self.paths.setdefault(stack, []).append(binding)
        return one

    def present_again(self, client, held, options, stack):
        """Presents the same id again (P2)."""
        name = held.destination.name if held.destination else None
        parent = self.by_token(held.parent) if held.parent else None
        place = self.place(held.binding)
        if "destination" in options and options["destination"] != name:
            raise Refused("InvalidArgument")
        if options.get("group", held.group) != held.group or options.get("tag", held.tag) != held.tag:
            raise Refused("InvalidArgument")
        if "from" in options and options["from"] != (parent.binding if parent else None):
            raise Refused("InvalidArgument", "NotPresented")
        if stack and (place is None or place[0] != stack or self.paths[stack][-1] != held.binding):
            raise Refused("InvalidArgument", "AlreadyInStack")
        options = {key: word for key, word in options.items() if key != "from"}
        if held.group and held.queued_at is not None:
            self.note("G9 again")
            self.judge(held, options, False, "")
        elif options.get("if-busy") != "queue":
            held.may_queue_at = None
        if self.take(held, options, client):
            self.note("P2")
            if held.phase == "presented":
                self.log.setdefault(held.token, [])
        if held.group:
            known = self.memory.pop((held.group, held.tag), (held.binding, held.id, {}))
            self.memory[(held.group, held.tag)] = (held.binding, held.id, known[2] | remembered(options))
        return held

    def enqueue(self, one, first=False):
        self.last_queued += 1
        one.queued_at = one.may_queue_at = self.last_queued
        one.is_interrupted = first

    def judge(self, one, options, is_in_stack, stack):
        """Selects a member, or has it wait, or refuses it (G6, G8, G9, K1, K2, H4)."""
        policy = options.get("if-busy", "replace")
        other = next((x for x in self.slots.values() if x.group == one.group and x.queued_at is None and x.binding != one.binding), None)
        is_held = self.hold(one) != "show"
        if other is None:
            if is_held and not self.is_fallback(one):
                if is_in_stack:
                    raise Refused("Held")
                if one.queued_at is None:
                    self.note("H4 queued")
                    self.enqueue(one)
                return
            one.queued_at, one.is_interrupted = None, False
            if policy != "queue":
                one.may_queue_at = None
            elif one.may_queue_at is None:
                self.last_queued += 1
                one.may_queue_at = self.last_queued
            return
        if policy in ("queue", "interrupt") and self.is_fallback(one):
            raise Refused("InvalidArgument")
        if self.is_fallback(other):
            is_idle, policy = True, policy if policy == "interrupt" else "replace"
        else:
            is_idle = False
        if policy == "refuse":
            self.note("G8 refused")
            raise Refused("Busy")
        if is_held:
            if is_in_stack or self.is_fallback(one):
                raise Refused("Held")
            policy = "queue"
        if policy == "queue":
            if one.queued_at is None:
                self.note("H4 queued" if is_held else "G8 queued")
                self.enqueue(one)
            return
        needs = {one.from_binding} if one.from_binding else set()
        for binding in list(needs):
            needs |= self.dependencies(binding)
        if stack and self.paths.get(stack):
            needs |= {self.paths[stack][-1]} | self.dependencies(self.paths[stack][-1])
        if other.binding in needs:
            raise Refused("InvalidArgument", "NotPresented")
        if policy == "interrupt" and not is_idle:
            if self.place(other.binding):
                raise Refused("InvalidArgument")
            self.note("K2")
            self.interrupt(other)
        else:
            self.note("G2" if not is_idle else "K1 gives way")
            self.clear(other.binding, "deselected")
        one.queued_at = one.may_queue_at = None
        one.is_interrupted = False

    def interrupt(self, other):
        has_children = any(one.parent == other.token for one in self.alive())
        if other.phase == "waiting" and not has_children:
            self.enqueue(other, first=True)
            return
        parent = self.by_token(other.parent) if other.named_parent else None
        left = max(other.expires_at - self.now, 0) if other.expires_at < NEVER else other.left
        memory = self.memory.get((other.group, other.tag))
        self.clear(other.binding, "deselected")
        if memory:
            self.memory[(other.group, other.tag)] = memory
        one = self.again(other, left=left, due=other.due if other.phase == "waiting" else 0)
        if parent and self.is_current(parent) and self.can_be_parent(parent.binding):
            one.from_binding = parent.binding
        self.enqueue(one, first=True)

    # Requests.

    def request(self, client, verb, *arguments, options=None):
        options = options or {}
        before = {one.token for one in self.going}
        getattr(self, verb)(client, *arguments, options)
        # The subjects are those that the request names, and those of the items that it presents (P15).
        subjects = self.subjects(verb, arguments, options) if options.get("force") else set()
        # The queues and the parents come first, so that all presentations that end are known.
        self.settle()
        self.new = []
        if options.get("force"):
            self.force(
                one.token for one in self.going
                if one.token not in before and one.reason != "parent" and one.reason != "popped"
                or subjects & {("slot", one.binding), ("group", one.group), ("stack", one.stack), ("all", "")})
        self.finish()

    def subjects(self, verb, arguments, options):
        found = set()

        def around(binding):
            found.add(("slot", binding))
            if binding in self.slots and self.slots[binding].group:
                found.add(("group", self.slots[binding].group))
            if self.place(binding):
                found.add(("stack", self.place(binding)[0]))

        if verb in ("Present", "Toggle", "Dismiss"):
            around(arguments[0])
        elif verb in ("Select", "ToggleSelection", "Deselect"):
            for one in list(self.slots.values()):
                if verb != "Deselect" and (one.group, one.tag) == (arguments[0], arguments[1]):
                    around(one.binding)
            found.add(("group", arguments[0]))
        elif verb in ("Push", "Pop", "PopTo", "SetPath"):
            found.add(("stack", arguments[0]))
            if verb == "Push":
                around(arguments[1])
            if verb == "SetPath":
                for binding in self.paths.get(arguments[0], []):
                    around(binding)
        elif verb == "DismissAll":
            kind, name = arguments
            if kind == "root":
                found |= {("slot", one.binding) for one in self.alive() if root(one.binding) == name}
            else:
                found.add((kind, name))
        return found

    def Present(self, client, binding, id, options):
        self.present(client, binding, id, options)

    def Toggle(self, client, binding, id, options):
        held = self.slots.get(binding)
        is_late = held and options.get("known") is True and held.destination is None and binding in self.destinations and "destination" not in options
        if held and held.id == id and not is_late:
            self.clear(binding, "dismissed")
        else:
            self.present(client, binding, id, options)

    def Update(self, client, binding, value, options):
        if binding not in self.slots:
            raise Refused("NotPresented")
        one = self.slots[binding]
        if set(options.get("container-values", {})) - {"badge"}:
            raise Refused("UnknownContainerValue")
        one.value = {key: word for key, word in one.value.items() if key not in options.get("remove", [])} | value
        one.container_values = one.container_values | options.get("container-values", {})
        self.take(one, {key: word for key, word in options.items() if key == "timeout"}, client)

    def Dismiss(self, client, binding, options):
        self.clear(binding, "dismissed")

    def DismissAll(self, client, kind, name, options):
        for one in list(self.slots.values()):
            place = self.place(one.binding)
            if kind == "all" or kind == "root" and root(one.binding) == name or kind == "group" and one.group == name or kind == "stack" and place and place[0] == name:
                one.reason = "dismissed"
        chosen = [one for one in self.slots.values() if one.reason == "dismissed"]
        for one in chosen:
            if self.slots.get(one.binding) is one:
                self.clear(one.binding, "dismissed")
        for one in chosen:
            # The request has named each of them (P12).
            one.reason = "dismissed"
            if self.log.get(one.token):
                self.log[one.token][-1] = ("dismissed", "dismissed")

    def Select(self, client, group, tag, options):
        options = dict(options)
        other = self.selected(group)
        if other and other.tag == tag:
            self.present(client, other.binding, other.id, options | {"group": group, "tag": tag})
            return
        waiting = next((one for one in self.queue(group) if one.tag == tag), None)
        known = self.memory.get((group, tag))
        if waiting and (not known or known[0] != waiting.binding):
            binding, id, standard = waiting.binding, waiting.id, {}
        elif known:
            self.note("G7 repeated")
            binding, id, standard = known
        elif tag in self.destinations and self.destinations[tag].group == group:
            self.note("G7 declared")
            binding, id, standard = tag, "", {"destination": tag}
        else:
            binding, id, standard = f"{group}.{tag}", "", {}
        is_known = bool(waiting or known or "destination" in standard)
        try:
            self.present(client, binding, id, standard | options | {"group": group, "tag": tag}, is_known_tag=is_known)
        except Refused as refusal:
            if options.get("known") is True and not is_known:
                raise Refused("UnknownTag", *refusal.codes)
            raise
        self.memory[(group, tag)] = (binding, id, standard | remembered(options))

    def Deselect(self, client, group, tag, options):
        other = self.selected(group)
        if other and tag in ("", other.tag):
            self.note("G3")
            self.clear(other.binding, "deselected")

    def ToggleSelection(self, client, group, tag, options):
        other = self.selected(group)
        waiting = next((one for one in self.queue(group) if one.tag == tag), None)
        if other and other.tag == tag:
            self.note("G4")
            self.clear(other.binding, "deselected")
        elif waiting and self.hold(waiting) != "show":
            self.note("H4 toggled")
            self.clear(waiting.binding, "deselected")
        else:
            self.Select(client, group, tag, options)

    def Forget(self, client, group, tag, options):
        self.memory.pop((group, tag), None)

    def Push(self, client, stack, binding, id, options):
        self.present(client, binding, id, options, stack=stack)

    def cut(self, stack, height):
        path = self.paths.get(stack, [])
        if len(path) > height:
            self.clear(path[height], "popped")

    def Pop(self, client, stack, count, options):
        self.cut(stack, max(0, len(self.paths.get(stack, [])) - count))

    def PopTo(self, client, stack, binding, options):
        path = self.paths.get(stack, [])
        if binding and binding not in path:
            raise Refused("NotPresented")
        self.cut(stack, path.index(binding) + 1 if binding else 0)

    def SetPath(self, client, stack, elements, options):
        if len({binding for binding, _, _ in elements}) < len(elements):
            raise Refused("AlreadyInStack")
        path = self.paths.get(stack, [])
        common = 0
        while common < min(len(path), len(elements)) and path[common] == elements[common][0] and self.slots[path[common]].id == elements[common][1]:
            common += 1
        if common:
            self.note("S5 common")
        self.cut(stack, common)
        for number, (binding, id, own) in enumerate(elements):
            own = {**own, **{key: word for key, word in options.items() if key == "known"}}
            if number < common:
                self.present(client, binding, id, own)
            else:
                self.present(client, binding, id, own, stack=stack)

    # What else happens.

    def end(self, one, reason, status=None):
        """Takes in that a presentation has ended by itself (P5, P12, K3)."""
        if not self.is_current(one):
            if one in self.going:
                # The presentations that depend on it are forced (P15).
                one.is_done = one.is_forced = True
                self.finish()
            return
        rule = one.destination.restart if one.destination else ""
        if self.is_fallback(one):
            rule = "always"
        others = one.group and any(self.hold(x) == "show" for x in self.queue(one.group))
        comes = rule and reason in ("failed", "lost", "closed") and (rule == "always" or reason != "closed" or status)
        if comes and self.is_fallback(one) and others:
            comes = False
        place = self.place(one.binding)
        is_held = one.group and self.hold(one) != "show"
        if comes and place and is_held:
            comes = False
        restarts = one.restarts
        if one.phase == "presented" and self.now - one.presented_at >= 10:
            restarts = 0
        if comes and restarts >= one.destination.limit and not self.is_fallback(one):
            self.note("K3 given up")
            comes = False
        expiry = one.expires_at
        memory = self.memory.get((one.group, one.tag))
        named = self.by_token(one.parent) if one.named_parent else None
        one.is_done = True
        self.clear(one.binding, reason)
        if comes:
            self.note("K3")
            if memory:
                self.memory[(one.group, one.tag)] = memory
            new = self.again(one, restarts=restarts + 1, due=self.now + one.destination.delay * 2**min(restarts, 20), left=expiry - self.now if expiry < NEVER else one.left)
            new.patience = one.patience
            if named and self.is_current(named) and self.can_be_parent(named.binding):
                new.from_binding = named.binding
            if place:
                self.paths.setdefault(place[0], []).append(one.binding)
            if is_held and not self.is_fallback(one):
                self.enqueue(new, first=True)
        self.finish()

    def client_left(self, client):
        self.gone_clients.add(client)
        for one in [one for one in self.slots.values() if one.owner == client]:
            self.note("O1")
            if self.is_current(one):
                self.clear(one.binding, "owner")
            # The reason is owner, even for an item that would end with its parent, or with the element below it (P12).
            self.replace_reason(one, "owner")
            one.is_forced = True
        self.force(one.token for one in self.going if one.owner == client)
        for cookie in [cookie for cookie, (_, owner) in self.holders.items() if owner == client]:
            del self.holders[cookie]
        self.finish()

    def begin_hold(self, cookie, name, owner):
        begins = name not in self.holds_in_force()
        self.holders[cookie] = (name, owner)
        # An item that has declined its dismissal stays, even when another holder comes (H5).
        if begins:
            self.apply_holds()
        self.finish()

    def apply_holds(self):
        """Postpones and dismisses items for the holds in force (H4, H5)."""
        for one in [one for one in self.slots.values() if self.hold(one) == "dismiss" and one.phase in ("presenting", "presented")]:
            self.note("H5")
            self.clear(one.binding, "held")
            # The reason is held, even for an item that would end with its parent (P12).
            self.replace_reason(one, "held")
        for one in list(self.slots.values()):
            if not self.is_current(one):
                continue
            word = self.hold(one)
            if word != "show" and one.phase == "waiting" and one.group and one.queued_at is None and not self.is_fallback(one):
                if self.place(one.binding):
                    self.note("H4 ended")
                    self.clear(one.binding, "held")
                else:
                    self.note("H4 back")
                    self.lose_children(one)
                    self.enqueue(one, first=True)

    def end_hold(self, cookie):
        if cookie not in self.holders:
            raise Refused("InvalidArgument")
        del self.holders[cookie]
        self.note("H4 over")
        self.finish()

    def load(self, name, destination):
        """Takes in a file that was written, changed or removed, and that Reload has read (D1)."""
        if destination is None:
            self.destinations.pop(name, None)
        else:
            self.destinations[name] = destination
        self.present_late()
        self.finish()

    def present_late(self):
        for one in list(self.slots.values()):
            known = self.destinations.get(one.binding)
            if known and self.is_current(one) and self.is_nobodys(one) and not one.group and not self.place(one.binding):
                self.note("D1 late")
                named = self.by_token(one.parent) if one.named_parent else None
                self.clear(one.binding, "replaced")
                new = self.again(one, destination=known, holds=dict(known.holds), left=None, restarts=0, due=0)
                new.title = one.title or known.title
                if named and self.is_current(named):
                    new.from_binding = named.binding

    def answer(self, one, word):
        """Has a presenter on the bus answer the call that waits."""
        call, one.call = one.call, ""
        if call == "present":
            if word == "error":
                self.note("D4 failed")
                self.end(one, "failed")
            else:
                self.shown(one)
                self.finish()
        elif word == "declined" and one.is_forced:
            self.note("P15 does not count")
            one.call = "silent"
        elif word == "declined":
            self.decline(one)
        else:
            one.is_done = True
            self.finish()

    def decline(self, declining):
        """Has a presenter decline a dismissal (P15)."""
        self.note("P15")
        kept = []

        def keep(token):
            one = next((one for one in self.going if one.token == token), None)
            if one and one not in kept:
                keep(one.parent)
                keep(one.below)
                kept.append(one)

        keep(declining.token)
        for one in reversed(kept):
            self.make_room(one)
        self.settle()
        for one in kept:
            self.going.remove(one)
            self.slots[one.binding] = one
            if one.stack:
                self.paths.setdefault(one.stack, []).append(one.binding)
            one.phase, one.reason, one.call, one.is_asking, one.stack = "presented", "", "", False, ""
            one.expires_at = self.now + one.left if one.left is not None else NEVER
            one.left = None
            self.log.setdefault(one.token, []).append(("declined", ""))
            self.ended.pop(one.token, None)
        self.finish()

    def make_room(self, one):
        self.clear(one.binding, "declined")
        if one.group:
            self.kept_groups.add(one.group)
            for other in self.queue(one.group):
                if other.tag == one.tag:
                    self.clear(other.binding, "declined")
            other = self.selected(one.group)
            if other and other.may_queue_at is not None and other.tag != one.tag:
                self.note("P15 back")
                self.lose_children(other)
                other.queued_at = other.may_queue_at
            elif other:
                self.clear(other.binding, "declined")
        path = self.paths.get(one.stack, [])
        if one.stack and len(path) > one.index:
            self.clear(path[one.index], "declined")

    def ask(self, one):
        if one.call == "dismiss" and not one.is_forced:
            self.note("P16")
            one.is_asking = True

    def presenter_left(self, name):
        """Takes in that a presenter has left. Its successor is there already, and shows its items (D4)."""
        for one in list(self.going):
            if one.destination and one.destination.name == name and one in self.going:
                self.note("D4 done")
                # The presentations that depend on it are forced (P15).
                one.is_done = one.is_forced = True
                self.finish()
        for one in list(self.slots.values()):
            if one.destination and one.destination.name == name and one.phase == "presenting" and one.presented_at == 0 and self.is_current(one):
                if one.token in self.begun_before:
                    self.note("D4 left")
                    self.end(one, "failed")

    def restart(self, lost):
        """Restarts navd, without the presentations that were lost (R2, R6)."""
        self.note("R2")
        for one in self.going:
            one.is_asking = False
            if one.call == "silent":
                one.call = "dismiss"
        for token in lost:
            one = self.by_token(token)
            if one:
                self.note("R2 lost")
                self.end(one, "lost")
        self.finish()
        self.present_late()
        self.finish()

    # Time.

    def next_due(self):
        """The next time at which something happens by itself, and the presentation to which it happens."""
        found = [(one.expires_at, one) for one in self.slots.values()] + [(one.patience, one) for one in self.slots.values() if one.phase == "waiting"]
        found += [(one.due, one) for one in self.slots.values() if one.due]
        return min(found, key=lambda pair: pair[0], default=(NEVER, None))

    def pass_to(self, now):
        """Lets time pass, and carries out everything that is due."""
        while True:
            due, one = self.next_due()
            if due > now:
                break
            self.now = max(self.now, due)
            if one.due and one.due <= due:
                one.due = 0
                self.advance()
            else:
                self.note("O2" if one.phase == "presented" else "H6")
                self.clear(one.binding, "expired")
                self.finish()
        self.now = max(self.now, now)

    def hurry(self):
        """Ends the commands that take long."""
        self.is_slow = False
        self.finish()

    # What is on the screen.

    def shown(self, one):
        one.phase = "presented"
        one.presented_at = self.now
        one.patience = NEVER
        left = one.left if one.left is not None else one.timeout
        one.left = None
        one.expires_at = self.now + left if one.timeout else NEVER
        self.log.setdefault(one.token, []).append(("presented", ""))

    def may_begin(self, one):
        """Whether a waiting presentation may begin (P13)."""
        if one.queued_at is not None or one.due or self.hold(one) != "show":
            return False
        parent = self.by_token(one.parent) if one.parent else None
        if parent and (parent.phase != "presented" or not self.is_current(parent)):
            return False
        place = self.place(one.binding)
        if place:
            stack, index = place
            if index and self.slots[self.paths[stack][index - 1]].phase != "presented":
                return False
            if any(other.stack == stack and other.index >= index for other in self.going):
                return False
        return not any(other.binding == one.binding or one.group and other.group == one.group for other in self.going)

    def advance(self):
        changed, before = True, self.holds_in_force()
        while changed:
            changed = False
            for one in list(self.going):
                if any(one.token in (other.parent, other.below) for other in self.going if other is not one):
                    continue
                if one.is_done or one.kind == "state" or one.kind == "command" and not self.is_slow:
                    self.vanish(one)
                    changed = True
                elif not one.call:
                    one.call, changed = "dismiss", True
            # What waited for the end of a hold comes before anything starts (H8).
            if before - self.holds_in_force():
                self.note("H8 ended")
                return
            # The consequences of a hold come last, when another item may hold under that name (H8).
            holding = lambda one: bool(one.destination and one.destination.own_hold)
            for one in sorted(self.slots.values(), key=holding, reverse=True):
                if one.phase == "waiting" and self.is_current(one) and self.may_begin(one):
                    changed = True
                    one.phase = "presenting"
                    one.patience = NEVER
                    if one.destination and one.destination.own_hold:
                        self.note("H8")
                        self.apply_holds()
                    if one.kind == "bus":
                        one.call = "present"
                    else:
                        self.shown(one)


def remembered(options):
    """The options of a request that its tag remembers (G7)."""
    return {key: word for key, word in options.items() if key in ("destination", "value", "container-values", "title", "timeout", "within", "from")}


def root(binding):
    return binding.split(".")[0].split("[")[0]
