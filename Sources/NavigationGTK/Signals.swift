#if canImport(CGTK)
  import CGTK

  /// Signal handlers that end together, or each with its object. A handler retains the objects that it uses, which may in turn retain the
  /// object of the signal. So objects of a screen are released only when its handlers end.
  @MainActor
  final class Signals {
    typealias Handler = @MainActor (Arguments) -> Bool

    /// The arguments of a signal: the object first.
    struct Arguments {
      fileprivate let values: UnsafeBufferPointer<GValue>

      /// The argument as a pointer to an object.
      subscript(object index: Int) -> UnsafeMutableRawPointer? {
        g_value_get_object(values.baseAddress! + index)
      }
      subscript(int index: Int) -> Int { Int(g_value_get_int(values.baseAddress! + index)) }
      subscript(uint index: Int) -> guint { g_value_get_uint(values.baseAddress! + index) }
      subscript(flags index: Int) -> guint { g_value_get_flags(values.baseAddress! + index) }
      subscript(string index: Int) -> String {
        g_value_get_string(values.baseAddress! + index).map { String(cString: $0) } ?? ""
      }
    }

    @MainActor
    private final class Box {
      let handler: Handler
      private weak var signals: Signals?

      init(_ handler: @escaping Handler, of signals: Signals) {
        self.handler = handler
        self.signals = signals
      }

      func hasEnded(_ closure: UnsafeMutablePointer<GClosure>) { signals?.forget(closure, of: self) }
    }

    private var closures: [UnsafeMutablePointer<GClosure>: Box] = [:]

    /// Calls the handler whenever the signal is emitted.
    /// - Parameter handler: returns whether the signal was handled, for a signal with such a result.
    func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ handler: @escaping Handler) {
      let box = Box(handler, of: self)
      let closure = g_closure_new_simple(
        guint(MemoryLayout<GClosure>.size), Unmanaged.passRetained(box).toOpaque())!
      g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
        guard let data = closure?.pointee.data else { return }
        let box = Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
        // GTK emits all signals on the thread that runs the main loop.
        nonisolated(unsafe) let arguments = Arguments(values: UnsafeBufferPointer(start: values, count: Int(count)))
        let isHandled = MainActor.assumeIsolated { box.handler(arguments) }
        if let result, result.pointee.g_type == .boolean { g_value_set_boolean(result, isHandled ? 1 : 0) }
      }
      g_closure_add_finalize_notifier(closure, closure.pointee.data) { data, _ in
        if let data { Unmanaged<Box>.fromOpaque(data).release() }
      }
      // An object may be disposed of on any thread, and in the middle of a signal.
      g_closure_add_invalidate_notifier(closure, closure.pointee.data) { data, closure in
        guard let data, let closure else { return }
        let box = Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
        nonisolated(unsafe) let ended = closure
        Task { @MainActor in box.hasEnded(ended) }
      }
      g_closure_ref(closure)
      g_closure_sink(closure)
      closures[closure] = box
      g_object_watch_closure(object.assumingMemoryBound(to: GObject.self), closure)
      g_signal_connect_closure(object, signal, closure, 0)
    }

    /// Does the same for a handler of an owner, which is not retained, and ignores the signal after its end.
    func connect<Owner: AnyObject>(
      _ object: UnsafeMutableRawPointer, _ signal: String, of owner: Owner,
      _ handler: @escaping @MainActor (Owner, Arguments) -> Bool
    ) {
      connect(object, signal) { [weak owner] arguments in owner.map { handler($0, arguments) } ?? false }
    }

    /// Forgets the handler of an object that is gone. After the end of all handlers, another one may have the address of its closure.
    private func forget(_ closure: UnsafeMutablePointer<GClosure>, of box: Box) {
      guard closures[closure] === box else { return }
      closures[closure] = nil
      g_closure_unref(closure)
    }

    /// Ends all handlers, including those of objects that are gone.
    func disconnect() {
      let closures = closures
      self.closures = [:]
      for closure in closures.keys {
        g_closure_invalidate(closure)
        g_closure_unref(closure)
      }
    }

    isolated deinit { disconnect() }
  }

  extension GType {
    /// The value of `G_TYPE_BOOLEAN`, which is a macro.
    fileprivate static let boolean = GType(5 << G_TYPE_FUNDAMENTAL_SHIFT)
  }
#endif
