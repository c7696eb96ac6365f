#if canImport(CGTK)
  import CGTK

  /// A GtkAlertDialog (GTK 4.10).
  final class GTKAlert: Alert {
    /// The GTK functions that are used here.
    private struct Functions {
      typealias Dialog = UnsafeMutablePointer<GObject>
      let type: GType
      let setMessage: @convention(c) (Dialog, UnsafePointer<CChar>) -> Void
      let setDetail: @convention(c) (Dialog, UnsafePointer<CChar>) -> Void
      let setButtons: @convention(c) (Dialog, _ labels: UnsafePointer<UnsafePointer<CChar>?>) -> Void
      let setDefaultButton: @convention(c) (Dialog, _ index: CInt) -> Void
      let setCancelButton: @convention(c) (Dialog, _ index: CInt) -> Void
      let choose:
        @convention(c) (
          Dialog, _ parent: UnsafeMutablePointer<GtkWindow>?, OpaquePointer?, GAsyncReadyCallback, gpointer?
        ) -> Void
      let chooseFinish: @convention(c) (Dialog, _ result: OpaquePointer?, UnsafeMutableRawPointer?) -> CInt

      @MainActor
      init?() {
        guard let type = Adwaita.symbol("gtk_alert_dialog_get_type") as (@convention(c) () -> GType)? else {
          return nil
        }
        // All of them came in the same release.
        func function<Function>(_ name: String) -> Function { Adwaita.symbol(name)! }
        self.type = type()
        setMessage = function("gtk_alert_dialog_set_message")
        setDetail = function("gtk_alert_dialog_set_detail")
        setButtons = function("gtk_alert_dialog_set_buttons")
        setDefaultButton = function("gtk_alert_dialog_set_default_button")
        setCancelButton = function("gtk_alert_dialog_set_cancel_button")
        choose = function("gtk_alert_dialog_choose")
        chooseFinish = function("gtk_alert_dialog_choose_finish")
      }
    }

    /// The function that GTK calls when the user or the program closes the dialog.
    private final class Waiting {
      let finish: @convention(c) (UnsafeMutablePointer<GObject>, OpaquePointer?, UnsafeMutableRawPointer?) -> CInt
      /// The handler; nil after the program has closed the dialog.
      var answer: (@MainActor (Int?, String) -> Void)?

      init(
        _ finish:
          @escaping @convention(c) (UnsafeMutablePointer<GObject>, OpaquePointer?, UnsafeMutableRawPointer?) -> CInt,
        _ answer: @escaping @MainActor (Int?, String) -> Void
      ) {
        (self.finish, self.answer) = (finish, answer)
      }
    }

    private let texts: AlertTexts
    private let gtk: Functions
    private var open: (waiting: Waiting, cancellable: UnsafeMutablePointer<GCancellable>)?

    /// - Returns: nil if GTK is too old, or the dialog needs a text field, which this class cannot show.
    init?(_ texts: AlertTexts) {
      guard texts.prompt == nil, let gtk = Functions() else { return nil }
      (self.texts, self.gtk) = (texts, gtk)
    }

    func open(over parent: UnsafeMutablePointer<GtkWindow>?, _ answer: @escaping @MainActor (Int?, String) -> Void) {
      let dialog = g_object_new_with_properties(gtk.type, 0, nil, nil)!
      gtk.setMessage(dialog, texts.title)
      if !texts.message.isEmpty { gtk.setDetail(dialog, texts.message) }
      let labels = texts.buttons.map { strdup($0.title) }
      gtk.setButtons(dialog, labels.map { UnsafePointer($0) } + [nil])
      for label in labels { free(label) }
      if let index = texts.defaultButton { gtk.setDefaultButton(dialog, CInt(index)) }
      if let index = texts.cancel { gtk.setCancelButton(dialog, CInt(index)) }
      let waiting = Waiting(gtk.chooseFinish, answer)
      let cancellable = g_cancellable_new()!
      open = (waiting, cancellable)
      gtk.choose(
        dialog, parent, OpaquePointer(cancellable),
        { dialog, result, data in
          let waiting = Unmanaged<Waiting>.fromOpaque(data!).takeRetainedValue()
          let index = waiting.finish(dialog!, result, nil)
          MainActor.assumeIsolated { waiting.answer?(index >= 0 ? Int(index) : nil, "") }
        }, Unmanaged.passRetained(waiting).toOpaque())
      // The open call retains the dialog.
      g_object_unref(dialog)
    }

    func close() {
      guard let open else { return }
      self.open = nil
      open.waiting.answer = nil
      g_cancellable_cancel(open.cancellable)
      g_object_unref(open.cancellable)
    }

    isolated deinit { if let open { g_object_unref(open.cancellable) } }
  }
#endif
