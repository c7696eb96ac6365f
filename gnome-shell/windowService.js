// The object of org.navd.WindowSystem1.

const WINDOW_SYSTEM = 'org.navd.WindowSystem1';
const WINDOW_SYSTEM_PATH = '/org/navd/WindowSystem1';
const CAPABILITIES = [
    'close', 'activate', 'hide', 'move', 'summon', 'place', 'fullscreen', 'expect', 'pid', 'parent', 'output',
    'focus', 'in-view', 'startup-id',
];

/** Milliseconds between two readings of changes: a program that changes its title all the time costs the shell little. */
const PAUSE = 4;
/** Windows that are read at once: another workspace in view changes all, and the shell draws frames meanwhile. */
const PORTION = 20;

const ENTRY_TYPE = new GLib.VariantType('{sv}');

/**
 * Properties as `a{sv}`. The constructor of GLib.Variant, which reads a signature, takes several times as long.
 *
 * @param {object} properties - of a window
 */
function packed(properties) {
    const {Variant} = GLib;
    const values = {
        b: value => Variant.new_boolean(value),
        s: value => Variant.new_string(value),
        u: value => Variant.new_uint32(value),
    };
    return Variant.new_array(ENTRY_TYPE, Object.entries(properties).map(([key, value]) => Variant.new_dict_entry(
        Variant.new_string(key), Variant.new_variant(values[PROPERTY_TYPES[key]](value)))));
}

/**
 * The values of an `a{sv}`.
 *
 * @param {object} options - variants
 */
function plain(options) {
    return Object.fromEntries(Object.entries(options).map(([key, value]) => [key, value.deepUnpack()]));
}

class WindowService {
    /**
     * @param {string} xml - the interface
     */
    constructor(xml) {
        this._xml = xml;
        this._windows = new ShellWindows(() => this._tellSoon(), () => this._tell(PORTION));
        this._isOwner = false;
        this._told = {Outputs: [], FocusedOutput: ''};
        this._timer = 0;
        this._lastTime = 0;
    }

    enable() {
        this._object = Gio.DBusExportedObject.wrapJSObject(this._xml, this);
        this._object.export(Gio.DBus.session, WINDOW_SYSTEM_PATH);
        this._windows.enable(() => {
            this._tell();
            // If another adapter has the name, it is ours when that leaves.
            this._name = Gio.bus_own_name_on_connection(
                Gio.DBus.session, WINDOW_SYSTEM, Gio.BusNameOwnerFlags.NONE,
                () => (this._isOwner = true), () => (this._isOwner = false));
        });
    }

    disable() {
        if (this._timer)
            GLib.source_remove(this._timer);
        if (this._name)
            Gio.bus_unown_name(this._name);
        this._isOwner = false;
        this._windows.disable();
        this._object.unexport();
    }

    // Signals

    /** Tells clients what has changed, once for all changes of a turn of the main loop. */
    _tellSoon() {
        if (this._timer)
            return;
        const since = (GLib.get_monotonic_time() - this._lastTime) / 1000;
        const then = () => {
            this._timer = 0;
            this._tell(PORTION);
            return GLib.SOURCE_REMOVE;
        };
        this._timer = since < PAUSE
            ? GLib.timeout_add(GLib.PRIORITY_DEFAULT, Math.ceil(PAUSE - since), then)
            : GLib.idle_add(GLib.PRIORITY_DEFAULT, then);
    }

    /**
     * Tells clients what has changed.
     *
     * @param {number} limit - of how many windows
     */
    _tell(limit = Infinity) {
        this._lastTime = GLib.get_monotonic_time();
        this._windows.read(limit);
        // An output that is gone precedes the windows that were on it.
        this._tellProperty('Outputs', 'as', this._windows.outputs);
        for (const {name, id, properties, serial} of this._windows.table.takeEvents()) {
            this._emit(WINDOW_SYSTEM, name, [
                GLib.Variant.new_string(id), ...properties ? [packed(properties)] : [], GLib.Variant.new_uint64(serial),
            ]);
        }
        this._tellProperty('FocusedOutput', 's', this._windows.focusedOutput);
    }

    _tellProperty(name, type, value) {
        if (JSON.stringify(value) === JSON.stringify(this._told[name]))
            return;
        this._told[name] = value;
        this._emit('org.freedesktop.DBus.Properties', 'PropertiesChanged', [
            GLib.Variant.new_string(WINDOW_SYSTEM), new GLib.Variant('a{sv}', {[name]: new GLib.Variant(type, value)}),
            new GLib.Variant('as', []),
        ]);
    }

    _emit(interfaceName, name, values) {
        // Clients know them by the owner of the name.
        if (this._isOwner) {
            Gio.DBus.session.emit_signal(
                null, WINDOW_SYSTEM_PATH, interfaceName, name, GLib.Variant.new_tuple(values));
        }
    }

    // Properties

    get Capabilities() {
        return CAPABILITIES;
    }

    get Outputs() {
        return this._told.Outputs;
    }

    get FocusedOutput() {
        return this._told.FocusedOutput;
    }

    get Backend() {
        return 'gnome';
    }

    get Displays() {
        return ['WAYLAND_DISPLAY', 'DISPLAY'].map(name => GLib.getenv(name)).filter(name => name);
    }

    // Methods

    GetWindowsAsync(_parameters, invocation) {
        this._answer(invocation, () => {
            // The answer contains the signals before it.
            this._tell();
            const {table} = this._windows;
            const ids = table.ids.sort((a, b) => a.split('-')[1] - b.split('-')[1]);
            const {Variant} = GLib;
            const rows = ids.map(id => Variant.new_tuple([Variant.new_string(id), packed(table.properties(id))]));
            return Variant.new_tuple([
                Variant.new_array(new GLib.VariantType('(sa{sv})'), rows), Variant.new_uint64(table.serial),
            ]);
        });
    }

    CloseAsync([id], invocation) {
        this._answer(invocation, () => this._windows.close(id));
    }

    ActivateAsync([id], invocation) {
        this._answer(invocation, () => this._windows.activate(id));
    }

    HideAsync([id], invocation) {
        this._answer(invocation, () => this._windows.hide(id));
    }

    ShowAsync([id], invocation) {
        this._answer(invocation, () => this._windows.show(id));
    }

    MoveToOutputAsync([id, output], invocation) {
        this._answer(invocation, () => this._windows.moveToOutput(id, output));
    }

    SummonAsync([id], invocation) {
        this._answer(invocation, () => this._windows.summon(id));
    }

    PlaceAsync([id, options], invocation) {
        this._answer(invocation, () => this._windows.place(id, plain(options)));
    }

    ExpectAsync([presentation, options], invocation) {
        this._answer(invocation, () => this._windows.expect(presentation, plain(options)));
    }

    _answer(invocation, body) {
        try {
            invocation.return_value(body() ?? null);
        } catch (error) {
            if (!(error instanceof Refusal))
                logError(error);
            invocation.return_dbus_error(error.errorName ?? 'org.freedesktop.DBus.Error.Failed', error.message);
        }
    }
}
