// The extension without its entry, which differs by the version of the shell.

/** The parts of the extension, while it is enabled. */
class Adapter {
    /**
     * @param {Gio.File} directory - that of the extension
     */
    constructor(directory) {
        const [, xml] = directory.get_child('org.navd.WindowSystem1.xml').load_contents(null);
        this._parts = [new WindowService(new TextDecoder().decode(xml)), new DesktopVariables()];
        for (const part of this._parts)
            part.enable();
    }

    end() {
        for (const part of this._parts)
            part.disable();
    }
}
