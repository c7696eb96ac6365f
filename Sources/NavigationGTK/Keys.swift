#if canImport(CGTK)
  import CGTK

  extension Signals {
    /// Calls the handler for a key that no widget within this one has used.
    /// - Parameters:
    ///   - key: the key in the syntax of `gtk_accelerator_parse`, such as `<Alt>Left`.
    ///   - owner: the owner of the handler, which is not retained.
    ///   - handler: returns whether it has used the key.
    func connect<Owner: AnyObject>(
      key: String, in widget: Widget, of owner: Owner, _ handler: @escaping @MainActor (Owner) -> Bool
    ) {
      var (value, modifiers): (guint, GdkModifierType) = (0, GdkModifierType(rawValue: 0))
      gtk_accelerator_parse(key, &value, &modifiers)
      let wanted = (value, modifiers.rawValue)
      let controller = gtk_event_controller_key_new()!
      connect(UnsafeMutableRawPointer(controller), "key-pressed", of: owner) { owner, arguments in
        // Keyboard locks are ignored.
        let held = arguments[flags: 3] & gtk_accelerator_get_default_mod_mask().rawValue
        return (arguments[uint: 1], held) == wanted && handler(owner)
      }
      gtk_widget_add_controller(widget, controller)
    }
  }
#endif
