// The entry of GNOME 45 and newer.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Meta from 'gi://Meta';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

export default class NavdWindows extends Extension {
    enable() {
        this._adapter = new Adapter(this.dir);
    }

    // Not called for the lock screen: what is presented goes on there, and navd has to know when its windows close.
    disable() {
        this._adapter.end();
        this._adapter = null;
    }
}
