#if canImport(CGTK)
  import CGTK

  /// An AdwAlertDialog (libadwaita 1.5).
  final class AdwaitaAlert: Alert {
    /// The libadwaita functions that are used here.
    private struct Functions {
      let new: @convention(c) (_ heading: UnsafePointer<CChar>, _ body: UnsafePointer<CChar>?) -> Widget?
      let addResponse: @convention(c) (Widget, _ id: UnsafePointer<CChar>, _ label: UnsafePointer<CChar>) -> Void
      let setAppearance: @convention(c) (Widget, _ id: UnsafePointer<CChar>, _ appearance: CInt) -> Void
      let setDefault: @convention(c) (Widget, _ id: UnsafePointer<CChar>) -> Void
      let setExtraChild: @convention(c) (Widget, Widget) -> Void
      let present: @convention(c) (Widget, _ parent: Widget?) -> Void
      let forceClose: @convention(c) (Widget) -> Void

      @MainActor
      init?() {
        guard Adwaita.isUsed,
          let new = Adwaita.symbol("adw_alert_dialog_new")
            as (@convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Widget?)?
        else { return nil }
        // All functions came in the release that has the first one, so none is missing.
        func function<Function>(_ name: String) -> Function { Adwaita.symbol(name)! }
        self.new = new
        addResponse = function("adw_alert_dialog_add_response")
        setAppearance = function("adw_alert_dialog_set_response_appearance")
        setDefault = function("adw_alert_dialog_set_default_response")
        setExtraChild = function("adw_alert_dialog_set_extra_child")
        present = function("adw_dialog_present")
        forceClose = function("adw_dialog_force_close")
      }

      /// The value of ADW_RESPONSE_DESTRUCTIVE.
      static let destructive: CInt = 2
    }

    private let texts: AlertTexts
    private let adwaita: Functions
    private let signals = Signals()
    private var dialog: Widget?

    /// - Returns: nil if the program does not use libadwaita, or uses an earlier release.
    init?(_ texts: AlertTexts) {
      guard let adwaita = Functions() else { return nil }
      (self.texts, self.adwaita) = (texts, adwaita)
    }

    func open(over parent: UnsafeMutablePointer<GtkWindow>?, _ answer: @escaping @MainActor (Int?, String) -> Void) {
      let dialog = adwaita.new(texts.title, texts.message.isEmpty ? nil : texts.message)!
      self.dialog = dialog
      for (index, button) in texts.buttons.enumerated() {
        adwaita.addResponse(dialog, "\(index)", button.title)
        if button.isDestructive { adwaita.setAppearance(dialog, "\(index)", Functions.destructive) }
      }
      if let index = texts.defaultButton { adwaita.setDefault(dialog, "\(index)") }
      var entry: OpaquePointer?
      if let prompt = texts.prompt {
        let field = alertField(prompt, texts.text ?? "", isSecret: texts.isSecret)
        entry = OpaquePointer(field)
        adwaita.setExtraChild(dialog, field)
      }
      signals.connect(dialog, "response", of: self) { alert, arguments in
        let text = entry.map { String(cString: gtk_editable_get_text($0)) } ?? ""
        alert.signals.disconnect()
        alert.dialog = nil
        // Escape has no number.
        answer(Int(arguments[string: 1]), text)
        return true
      }
      adwaita.present(dialog, parent.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWidget.self) })
    }

    func close() {
      signals.disconnect()
      if let dialog { adwaita.forceClose(dialog) }
      dialog = nil
    }
  }
#endif
