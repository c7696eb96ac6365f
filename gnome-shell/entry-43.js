// The entry of GNOME 43 and 44.

/* exported init */
const {Gio, GLib, Meta} = imports.gi;
const Main = imports.ui.main;

class NavdWindows {
    constructor(directory) {
        this._directory = directory;
    }

    enable() {
        this._adapter = new Adapter(this._directory);
    }

    // Not called for the lock screen: what is presented goes on there, and navd has to know when its windows close.
    disable() {
        this._adapter.end();
        this._adapter = null;
    }
}

function init({dir}) {
    return new NavdWindows(dir);
}
