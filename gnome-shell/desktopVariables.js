// The variables of the desktop, for navd, which may have started before it (rule K6).

const COORDINATOR = 'org.navd.Coordinator1';
/** What programs need to find the desktop and its session, and to know which one it is. */
const VARIABLES = [
    'WAYLAND_DISPLAY', 'DISPLAY', 'XAUTHORITY', 'XDG_CURRENT_DESKTOP', 'XDG_SESSION_DESKTOP', 'XDG_SESSION_TYPE',
    'DESKTOP_SESSION',
];

/** Gives them to the navd that runs, and to each that comes. Starts none. */
class DesktopVariables {
    enable() {
        this._watch = Gio.bus_watch_name_on_connection(
            Gio.DBus.session, COORDINATOR, Gio.BusNameWatcherFlags.NONE,
            (_connection, _name, owner) => this._give(owner), null);
    }

    disable() {
        Gio.bus_unwatch_name(this._watch);
    }

    _give(owner) {
        const variables = Object.fromEntries(
            VARIABLES.map(name => [name, GLib.getenv(name)]).filter(([, value]) => value));
        Gio.DBus.session.call(
            owner, '/org/navd/Coordinator1', COORDINATOR, 'ImportEnvironment',
            new GLib.Variant('(a{ss})', [variables]), null, Gio.DBusCallFlags.NO_AUTO_START, -1, null,
            (connection, result) => {
                try {
                    connection.call_finish(result);
                } catch (error) {
                    logError(error, 'navd does not take the variables of the desktop');
                }
            });
    }
}
