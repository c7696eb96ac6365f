// The windows that clients know, and the signals that tell them. No shell and no bus.

/** The properties of a window in the contract, with their D-Bus types. */
const PROPERTY_TYPES = {
    'app-id': 's', 'title': 's', 'pid': 'u', 'parent': 's', 'output': 's', 'focused': 'b', 'urgent': 'b',
    'fullscreen': 'b', 'minimized': 'b', 'hidden': 'b', 'in-view': 'b', 'startup-id': 's',
};

/** Limits of what is kept and told: windows, and bytes of a text. */
const LIMITS = {windows: 4096, text: 4096};

/**
 * Cuts a text off at the limit. A character that is cut apart becomes U+FFFD.
 *
 * @param {string} text - the text of a program
 */
function limitedText(text) {
    // A UTF-16 unit has at most three bytes of UTF-8.
    if (text.length * 3 <= LIMITS.text)
        return text;
    const bytes = new TextEncoder().encode(text);
    return bytes.length <= LIMITS.text ? text : new TextDecoder().decode(bytes.subarray(0, LIMITS.text));
}

/** The announced windows by their ids, and the events that are yet to be sent. */
class WindowTable {
    constructor() {
        this._rows = new Map();
        this._events = [];
        this._serial = 0;
    }

    get serial() {
        return this._serial;
    }

    get ids() {
        return [...this._rows.keys()];
    }

    has(id) {
        return this._rows.has(id);
    }

    /**
     * The properties that clients know.
     *
     * @param {string} id - of an announced window
     */
    properties(id) {
        return this._rows.get(id);
    }

    /**
     * Opens a window, or changes one. Windows that are too many are left out until others close.
     *
     * @param {string} id - never that of another window
     * @param {object} properties - all that are known
     */
    see(id, properties) {
        const known = this._rows.get(id);
        if (!known) {
            if (this._rows.size >= LIMITS.windows)
                return;
            this._rows.set(id, properties);
            this._add('Opened', id, properties);
            return;
        }
        const changed = Object.entries(properties).filter(([key, value]) => known[key] !== value);
        if (changed.length === 0)
            return;
        Object.assign(known, Object.fromEntries(changed));
        this._add('Changed', id, Object.fromEntries(changed));
    }

    /**
     * Closes a window.
     *
     * @param {string} id - nothing happens if it was not announced
     */
    close(id) {
        if (this._rows.delete(id))
            this._add('Closed', id);
    }

    /** The events since the last call: name, id, properties, serial. */
    takeEvents() {
        const events = this._events;
        this._events = [];
        return events;
    }

    _add(name, id, properties = undefined) {
        this._events.push({name, id, properties: properties && {...properties}, serial: ++this._serial});
    }
}
