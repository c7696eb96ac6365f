// The windows, outputs and the focus of the shell, and what can be asked of windows.

/** Milliseconds for which a window without a title is not announced. */
const TITLE_PATIENCE = 50;
/** Milliseconds for which a window without a first frame is not announced. One that is not in view has none. */
const FRAME_PATIENCE = 500;
/** The windows that are looked at as covers of others, the topmost first. */
const MAX_COVERS = 64;
/** Milliseconds in which a program adopts a size that it was asked to have, and the shell may give its window the focus. */
const OPENING_PATIENCE = 1000;
/** The same for a window that was placed before its first frame, since its program draws slowly. */
const MAPPING_PATIENCE = 5000;

/** The windows that are expected at once, beyond which the oldest is forgotten. A program that starts takes seconds. */
const MAX_EXPECTED = 64;
/** The variable of a command by which its window is known. */
const PRESENTATION_VARIABLE = 'NAVD_PRESENTATION';

/** A request that is refused, with the name of an error of the contract. */
class Refusal extends Error {
    constructor(name, message) {
        super(message);
        this.errorName = `org.navd.Error.${name}`;
    }
}

/**
 * A text in quotation marks, cut off for a message.
 *
 * @param {string} text - what a caller sent
 */
function quoted(text) {
    return text.length <= 100 ? `“${text}”` : `“${text.slice(0, 100)}…”`;
}

/**
 * Whether two sets of options are the same.
 *
 * @param {object} options - of Place, or null
 * @param {object} others - of Place
 */
function isSame(options, others) {
    const keys = Object.keys(others);
    return options !== null && Object.keys(options).length === keys.length &&
        keys.every(key => options[key] === others[key]);
}

/**
 * What outlives the extension, but not the shell: windows stay when it is disabled and enabled again. Sequence numbers of
 * windows begin anew with the shell, so the token makes ids of them. Startup ids are those that windows have got, by id.
 */
function memoryOfTheShell() {
    global[Symbol.for('navd-windows@navd.org')] ??= {
        token: GLib.uuid_string_random().slice(0, 8),
        startupIDs: new Map(),
    };
    return global[Symbol.for('navd-windows@navd.org')];
}

/**
 * Follows the windows of the shell. Handlers of signals only note what to read again; `read` does so once for all signals
 * of a turn of the main loop, so that a program that changes its title all the time costs the shell one reading.
 */
class ShellWindows {
    /**
     * @param {Function} onStale - is called when there is something to read
     * @param {Function} onShown - is called when there is a new window to read, which somebody waits for
     */
    constructor(onStale, onShown) {
        this._onStale = onStale;
        this._onShown = onShown;
        this._memory = memoryOfTheShell();
        this.table = new WindowTable();
        /** By Meta.Window: announced windows, and those that wait for a frame or a title. */
        this._entries = new Map();
        this._windows = new Map();
        /** The options of Place for windows that are yet to open, by the presentations of their programs. */
        this._expected = new Map();
        this._stale = new Set();
        this._focus = null;
        /** The windows that others cover, and whether they may be others now. */
        this._covered = new Set();
        this._isRestacked = true;
        /** The names of outputs by the shell's numbers of monitors. */
        this._connectors = [];
        this._reading = null;
        this.focusedOutput = '';
    }

    /**
     * Begins to follow the windows.
     *
     * @param {Function} ready - is called when the outputs and the windows that were there before are known
     */
    enable(ready) {
        const {display, stage, workspace_manager: workspaces} = global;
        display.connectObject(
            'window-created', (_display, window) => this._add(window),
            'notify::focus-window', () => this._noteFocus(),
            'window-entered-monitor', (_display, _monitor, window) => this._note(window),
            'restacked', () => this._noteStack(), this);
        stage.connectObject('notify::is-grabbed', () => this._noteFocus(), this);
        Main.overview.connectObject('showing', () => this._noteAll(), 'hidden', () => this._noteAll(), this);
        Main.sessionMode.connectObject('updated', () => this._noteAll(), this);
        workspaces.connectObject('active-workspace-changed', () => this._noteAll(), this);
        Main.layoutManager.connectObject('monitors-changed', () => this._readOutputs(), this);
        const windows = global.get_window_actors().map(actor => actor.meta_window);
        windows.sort((a, b) => a.get_stable_sequence() - b.get_stable_sequence());
        for (const window of windows)
            this._add(window, true);
        this._ready = ready;
        // The shell enables its extensions before it owns this name.
        this._watch = Gio.bus_watch_name_on_connection(
            Gio.DBus.session, 'org.gnome.Mutter.DisplayConfig', Gio.BusNameWatcherFlags.NONE,
            () => this._readOutputs(), null);
    }

    disable() {
        Gio.bus_unwatch_name(this._watch);
        this._reading?.cancel();
        this._reading = null;
        this._ready = null;
        for (const object of [
            global.display, global.stage, global.workspace_manager, Main.layoutManager, Main.overview, Main.sessionMode,
        ])
            object.disconnectObject(this);
        for (const window of [...this._entries.keys()])
            this._forget(window);
        this._stale.clear();
    }

    // Outputs

    get outputs() {
        return this._connectors.filter(name => name !== undefined);
    }

    /**
     * The number of an output; -1 if there is none of that name.
     *
     * @param {string} name - its connector
     */
    _monitor(name) {
        const monitors = global.backend.get_monitor_manager?.() ?? Meta.MonitorManager.get();
        return monitors.get_monitor_for_connector(name);
    }

    /** Asks for the names of the outputs, which only the bus tells. Until they are known, nothing is told. */
    _readOutputs() {
        this._reading?.cancel();
        const reading = this._reading = new Gio.Cancellable();
        Gio.DBus.session.call(
            'org.gnome.Mutter.DisplayConfig', '/org/gnome/Mutter/DisplayConfig', 'org.gnome.Mutter.DisplayConfig',
            'GetCurrentState', null, null, Gio.DBusCallFlags.NONE, -1, reading, (connection, result) => {
                if (this._reading !== reading)
                    return;
                this._reading = null;
                try {
                    const [, monitors] = connection.call_finish(result).recursiveUnpack();
                    this._connectors = [];
                    for (const [[connector]] of monitors) {
                        const number = this._monitor(connector);
                        // Mirrored outputs are one; an output that is off is none.
                        if (number >= 0)
                            this._connectors[number] ??= connector;
                    }
                } catch (error) {
                    logError(error, 'the outputs cannot be read');
                }
                this._noteAll();
                this._ready?.();
                this._ready = null;
            });
    }

    get _focusedMonitor() {
        return global.display.focus_window?.get_monitor() ?? global.display.get_current_monitor();
    }

    // Windows

    _isPartOfTheDesktop(window) {
        return window.is_override_redirect() ||
            [Meta.WindowType.DESKTOP, Meta.WindowType.DOCK].includes(window.get_window_type());
    }

    _add(window, isOld = false) {
        if (this._entries.has(window))
            return;
        const id = `${this._memory.token}-${window.get_stable_sequence()}`;
        const formerFocus = isOld ? null : global.display.focus_window;
        const expected = isOld ? null : this._takeExpected(window);
        const entry = {
            id, isShown: isOld, isDue: isOld, timer: 0, formerFocus, expected, asked: null, placement: null,
            placedUntil: 0,
            // To move it before its first frame is in vain, so that is done then.
            hasFrame: isOld, optionsOfFrame: expected,
            // Until it has had the focus once, it gives it back; -1 after that.
            unfocusedUntil: expected?.focus === false ? Infinity : 0,
        };
        this._entries.set(window, entry);
        this._windows.set(id, window);
        const note = () => this._note(window);
        const notePlace = () => {
            note();
            this._noteStack();
        };
        const noteWithDialogs = () => {
            notePlace();
            for (const dialog of this._dialogs(window))
                this._note(dialog);
        };
        window.connectObject(
            'notify::title', note, 'notify::wm-class', note, 'notify::fullscreen', notePlace, 'notify::urgent', note,
            'notify::demands-attention', note, 'notify::window-type', note, 'notify::on-all-workspaces', notePlace,
            'workspace-changed', notePlace, 'notify::minimized', noteWithDialogs,
            'position-changed', () => {
                this._noteStack();
                // A later answer of its program moves it back to where it would be with the size that was asked for.
                const {x, y, width, height} = window.get_frame_rect();
                const {asked} = entry;
                if (asked?.x === x && asked.y === y && (asked.width !== width || asked.height !== height))
                    this._goOnPlacing(window);
            }, 'size-changed', () => {
                this._noteStack();
                this._goOnPlacing(window);
            },
            'unmanaged', () => this._remove(window), this);
        if (isOld) {
            note();
            return;
        }
        // Before its first frame a window has no place, and to move it is in vain.
        const shown = () => {
            if (entry.isShown)
                return;
            entry.isShown = true;
            this._after(entry, TITLE_PATIENCE, () => {
                entry.isDue = true;
                note();
            });
            this._stale.add(window);
            this._onShown();
        };
        window.get_compositor_private()?.connectObject('first-frame', () => {
            entry.hasFrame = true;
            if (entry.optionsOfFrame)
                this._place(window, entry.optionsOfFrame);
            shown();
        }, this);
        this._after(entry, FRAME_PATIENCE, shown);
    }

    _after(entry, milliseconds, then) {
        if (entry.timer)
            GLib.source_remove(entry.timer);
        entry.timer = GLib.timeout_add(GLib.PRIORITY_DEFAULT, milliseconds, () => {
            entry.timer = 0;
            then();
            return GLib.SOURCE_REMOVE;
        });
    }

    _forget(window) {
        const entry = this._entries.get(window);
        if (entry.timer)
            GLib.source_remove(entry.timer);
        window.disconnectObject(this);
        window.get_compositor_private()?.disconnectObject(this);
        this._entries.delete(window);
        this._windows.delete(entry.id);
    }

    _remove(window) {
        const {id} = this._entries.get(window);
        this._forget(window);
        this._stale.delete(window);
        this._covered.delete(window);
        if (this._focus === window)
            this._focus = null;
        this.table.close(id);
        // They are no dialogs of it any more, and others may have their place.
        this._noteAll();
    }

    _dialogs(window) {
        return [...this._entries.keys()].filter(other => other.get_transient_for() === window);
    }

    _note(window) {
        this._stale.add(window);
        this._onStale();
    }

    _noteAll() {
        for (const window of this._entries.keys())
            this._stale.add(window);
        this._noteStack();
    }

    /** Notes that windows may cover others than before. */
    _noteStack() {
        this._isRestacked = true;
        this._onStale();
    }

    _noteFocus() {
        const window = global.display.focus_window;
        const entry = this._entries.get(window);
        // Within this signal, so that no key gets there.
        if (GLib.get_monotonic_time() < entry?.unfocusedUntil) {
            entry.unfocusedUntil = -1;
            this._returnFocus(window);
        }
        for (const changed of [this._focus, window]) {
            if (this._entries.has(changed))
                this._stale.add(changed);
        }
        this._noteStack();
    }

    /**
     * Reads what has changed into the table; later, if the outputs are being read.
     *
     * @param {number} limit - how many windows to read; what is left is read later
     */
    read(limit = Infinity) {
        if (this._reading)
            return;
        const {focus_window: focus} = global.display;
        if (this._isCurtained)
            this._focus = null;
        // A menu, a dialog or a switcher of the shell has the keyboard for a moment, and gives it back.
        else if (focus !== null || Main.modalCount === 0)
            this._focus = focus;
        if (this._isRestacked)
            this._readStack();
        const stale = [...this._stale].filter(window => window !== this._focus);
        // The window that loses the focus is told first.
        if (this._stale.has(this._focus))
            stale.push(this._focus);
        for (const window of stale.slice(0, limit)) {
            this._stale.delete(window);
            this._see(window);
        }
        if (stale.length > limit)
            this._onStale();
        this.focusedOutput = this._connectors[this._focusedMonitor] ?? '';
    }

    /** Whether the overview or the lock screen is shown instead of the windows. */
    get _isCurtained() {
        return Main.overview.visible || Main.sessionMode.isLocked;
    }

    /** Finds out which windows lie under a single other one as a whole. One with the focus is in use, whatever lies above it. */
    _readStack() {
        this._isRestacked = false;
        const shown = [...this._entries.keys()].filter(window =>
            this._entries.get(window).isShown && this._isOnScreen(window) && !this._isPartOfTheDesktop(window));
        const covers = [];
        const covered = new Set();
        for (const window of global.display.sort_windows_by_stacking(shown).reverse()) {
            const area = window.get_frame_rect();
            if (covers.some(cover => cover.contains_rect(area))) {
                if (window !== this._focus)
                    covered.add(window);
            } else if (covers.length < MAX_COVERS) {
                covers.push(area);
            }
        }
        for (const window of new Set([...covered, ...this._covered])) {
            if (covered.has(window) !== this._covered.has(window) && this._entries.has(window))
                this._stale.add(window);
        }
        this._covered = covered;
    }

    _isOnScreen(window) {
        return !this._isHidden(window) && window.located_on_workspace(this._workspace);
    }

    _see(window) {
        const entry = this._entries.get(window);
        if (!this.table.has(entry.id)) {
            const isDue = entry.isDue || entry.isShown && window.get_title();
            if (!isDue || this._isPartOfTheDesktop(window))
                return;
            if (entry.timer)
                GLib.source_remove(entry.timer);
            entry.timer = 0;
            entry.startupID = this._startupID(window, entry.id);
            this.table.see(entry.id, this._properties(window, entry));
            for (const dialog of this._dialogs(window))
                this._note(dialog);
            return;
        }
        this.table.see(entry.id, this._properties(window, entry));
    }

    /**
     * The startup id with which a window was opened. A window that has none tells that of its group, where it stays: so an
     * id counts for the first window that is seen with it.
     *
     * @param {Meta.Window} window - a window that is yet to be announced
     * @param {string} id - its id
     */
    _startupID(window, id) {
        const {startupIDs} = this._memory;
        if (startupIDs.has(id))
            return startupIDs.get(id);
        const startupID = window.get_startup_id();
        if (!startupID || [...startupIDs.values()].includes(startupID))
            return undefined;
        startupIDs.set(id, startupID);
        // Also when its window is gone: its program may open others.
        if (startupIDs.size > LIMITS.windows)
            startupIDs.delete(startupIDs.keys().next().value);
        return startupID;
    }

    _isHidden(window) {
        for (let shown = window; shown; shown = shown.get_transient_for()) {
            if (shown.minimized)
                return true;
        }
        return false;
    }

    _properties(window, entry) {
        const isHidden = this._isHidden(window);
        const parent = this._entries.get(window.get_transient_for())?.id;
        const properties = {
            'title': limitedText(window.get_title() ?? ''),
            'parent': this.table.has(parent) ? parent : '',
            'output': isHidden ? '' : this._connectors[window.get_monitor()] ?? '',
            'focused': window === this._focus,
            'urgent': window.urgent || window.demands_attention,
            'fullscreen': window.fullscreen,
            'minimized': window.minimized,
            'hidden': isHidden,
            'in-view': this._isOnScreen(window) && !this._isCurtained && !this._covered.has(window),
        };
        const appID = window.get_wm_class();
        // It may come later than its window.
        if (appID !== null)
            properties['app-id'] = limitedText(appID);
        properties['pid'] = Math.max(window.get_pid(), 0);
        if (entry.startupID)
            properties['startup-id'] = limitedText(entry.startupID);
        return properties;
    }

    // Requests

    get _workspace() {
        return global.workspace_manager.get_active_workspace();
    }

    /**
     * An announced window.
     *
     * @param {string} id - of a caller
     */
    _window(id) {
        if (!this.table.has(id))
            throw new Refusal('UnknownWindow', `there is no window with the id ${quoted(id)}; GetWindows lists all`);
        return this._windows.get(id);
    }

    /** The time for requests: a later one than that of whatever its user has done. */
    get _now() {
        return global.display.get_current_time_roundtrip();
    }

    close(id) {
        const window = this._window(id);
        if (!window.can_close())
            throw new Refusal('NotSupported', 'closing a window: this one has no close button, and cannot be asked');
        window.delete(this._now);
    }

    activate(id) {
        this._activate(this._window(id));
    }

    hide(id) {
        const window = this._window(id);
        if (!window.minimized)
            window.minimize();
    }

    show(id) {
        const window = this._window(id);
        if (!this._isHidden(window))
            return;
        this._bringHere(window);
        this._unhide(window);
    }

    place(id, options) {
        const window = this._window(id);
        const entry = this._entries.get(window);
        // Its user may have moved it since it opened.
        const isPlaced = entry.hasFrame && isSame(entry.expected, options);
        entry.expected = null;
        entry.optionsOfFrame = options;
        if (!isPlaced)
            this._place(window, options);
    }

    /**
     * Announces the first window of a program that is about to start.
     *
     * @param {string} presentation - the variable of its process
     * @param {object} options - of Place, and its patterns; none if it is no longer expected
     */
    expect(presentation, options) {
        this._expected.delete(presentation);
        // Its process says which window it is.
        delete options['app-id'];
        delete options.title;
        if (Object.keys(options).length === 0)
            return;
        new Placement(options);
        this._expected.set(presentation, options);
        if (this._expected.size > MAX_EXPECTED)
            this._expected.delete(this._expected.keys().next().value);
    }

    /**
     * The options of Place for a new window that was expected; null if it was not.
     *
     * @param {Meta.Window} window - a window that has just been created
     */
    _takeExpected(window) {
        if (this._expected.size === 0 || window.get_pid() <= 0)
            return null;
        let variables;
        try {
            const [, bytes] = GLib.file_get_contents(`/proc/${window.get_pid()}/environ`);
            variables = new TextDecoder().decode(bytes).split('\0');
        } catch {
            // It belongs to another user, or has ended.
            return null;
        }
        const prefix = `${PRESENTATION_VARIABLE}=`;
        const presentation = variables.find(variable => variable.startsWith(prefix))?.slice(prefix.length);
        const options = this._expected.get(presentation) ?? null;
        this._expected.delete(presentation);
        return options;
    }

    _place(window, options) {
        const placement = new Placement(options);
        const entry = this._entries.get(window);
        if (options['fullscreen'])
            window.make_fullscreen();
        else if (options['fullscreen'] === false)
            window.unmake_fullscreen();
        if (options['sticky'])
            window.stick();
        else if (options['sticky'] === false)
            window.unstick();
        if (options['above'])
            window.make_above();
        else if (options['above'] === false)
            window.unmake_above();
        if (placement.isAnywhere) {
            window.unmaximize(Meta.MaximizeFlags?.BOTH);
            entry.asked = placement.frame(window.get_frame_rect(), this._usableArea(window), this._pointer);
            const {x, y, width, height} = entry.asked;
            window.move_resize_frame(false, x, y, width, height);
            // The program decides about its size later, and the place follows from it.
            entry.placement = placement;
            entry.placedUntil = GLib.get_monotonic_time() + OPENING_PATIENCE * 1000;
        }
        if (options['focus'] !== false)
            return;
        // The shell may give it the focus only after that.
        const patience = entry.hasFrame ? OPENING_PATIENCE : MAPPING_PATIENCE;
        if (entry.unfocusedUntil !== -1)
            entry.unfocusedUntil = window.has_focus() ? -1 : GLib.get_monotonic_time() + patience * 1000;
        this._returnFocus(window);
    }

    _returnFocus(window) {
        const {formerFocus} = this._entries.get(window);
        if (window.has_focus() && this._entries.has(formerFocus))
            formerFocus.focus(this._now);
    }

    _usableArea(window) {
        return window.get_work_area_current_monitor();
    }

    get _pointer() {
        const [x, y] = global.get_pointer();
        return {x, y};
    }

    /**
     * Places a window again whose program has another size than it was asked to have.
     *
     * @param {Meta.Window} window - a window whose size has changed
     */
    _goOnPlacing(window) {
        const entry = this._entries.get(window);
        if (!entry?.placement)
            return;
        if (GLib.get_monotonic_time() > entry.placedUntil) {
            entry.placement = null;
            return;
        }
        const {x, y} = entry.placement.origin(window.get_frame_rect(), this._usableArea(window), this._pointer);
        window.move_frame(false, x, y);
    }

    moveToOutput(id, output) {
        const window = this._window(id);
        const monitor = this._monitor(output);
        if (monitor < 0) {
            const outputs = this.outputs.map(quoted).join(', ');
            throw new Refusal('InvalidArgument', `output: expected ${outputs}, found ${quoted(output)}`);
        }
        this._bringHere(window);
        this._move(window, monitor);
    }

    summon(id) {
        const window = this._window(id);
        const monitor = this._focusedMonitor;
        this._bringHere(window);
        this._unhide(window);
        this._move(window, monitor);
        this._activate(window);
    }

    _activate(window) {
        this._unhide(window);
        // Leaves the overview, too, and goes to the window's workspace.
        Main.activateWindow(window, this._now);
    }

    /**
     * Shows a window again; it is shown with the windows that it is a dialog of.
     *
     * @param {Meta.Window} window - a window that may be shown already
     */
    _unhide(window) {
        for (let hidden = window; hidden; hidden = hidden.get_transient_for()) {
            if (hidden.minimized)
                hidden.unminimize();
        }
    }

    _bringHere(window) {
        if (!window.located_on_workspace(this._workspace))
            window.change_workspace(this._workspace);
    }

    _move(window, monitor) {
        if (window.get_monitor() !== monitor)
            window.move_to_monitor(monitor);
    }
}
