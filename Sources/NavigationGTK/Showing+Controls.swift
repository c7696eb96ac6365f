#if canImport(CGTK)
  public import CGTK
  public import Navigation

  /// A value of a control's property: a text, a boolean or a number.
  ///
  ///     let scale = gtk_adjustment_new(1, 0, 10, 1, 1, 0)!
  ///     showing.bind(scale, "value", to: $model.price)
  ///
  /// A further type of values, for a property of GLib's type `gfloat`:
  ///
  ///     extension Float: ControlValue {
  ///       public static var controlType: GType { GType(14 << G_TYPE_FUNDAMENTAL_SHIFT) }
  ///       public static func read(_ value: UnsafePointer<GValue>) -> Float { g_value_get_float(value) }
  ///       public func write(to value: UnsafeMutablePointer<GValue>) { g_value_set_float(value, self) }
  ///     }
  public protocol ControlValue: Equatable {
    /// The type in GObject's type system.
    static var controlType: GType { get }
    /// Reads the value.
    static func read(_ value: UnsafePointer<GValue>) -> Self
    /// Writes the value.
    func write(to value: UnsafeMutablePointer<GValue>)
  }

  extension String: ControlValue {
    public static var controlType: GType { GType(16 << G_TYPE_FUNDAMENTAL_SHIFT) }
    public static func read(_ value: UnsafePointer<GValue>) -> String {
      g_value_get_string(value).map { String(cString: $0) } ?? ""
    }
    public func write(to value: UnsafeMutablePointer<GValue>) { g_value_set_string(value, self) }
  }

  extension Bool: ControlValue {
    public static var controlType: GType { GType(5 << G_TYPE_FUNDAMENTAL_SHIFT) }
    public static func read(_ value: UnsafePointer<GValue>) -> Bool { g_value_get_boolean(value) != 0 }
    public func write(to value: UnsafeMutablePointer<GValue>) { g_value_set_boolean(value, self ? 1 : 0) }
  }

  extension Int: ControlValue {
    public static var controlType: GType { GType(10 << G_TYPE_FUNDAMENTAL_SHIFT) }
    public static func read(_ value: UnsafePointer<GValue>) -> Int { Int(g_value_get_int64(value)) }
    public func write(to value: UnsafeMutablePointer<GValue>) { g_value_set_int64(value, gint64(self)) }
  }

  extension Double: ControlValue {
    public static var controlType: GType { GType(15 << G_TYPE_FUNDAMENTAL_SHIFT) }
    public static func read(_ value: UnsafePointer<GValue>) -> Double { g_value_get_double(value) }
    public func write(to value: UnsafeMutablePointer<GValue>) { g_value_set_double(value, self) }
  }

  extension Showing {
    /// Keeps a property of a control and a binding equal until the screen ends. The property gets the binding's value now, and whenever
    /// that changes; the binding gets what the user enters.
    ///
    ///     let entry = gtk_entry_new()!
    ///     showing.bind(entry, "text", to: $note.text)
    ///     let flag = gtk_check_button_new_with_label("Done")!
    ///     showing.bind(flag, "active", to: $note.isDone)
    ///
    /// - Parameters:
    ///   - control: the widget, or another object with the property, such as the adjustment of a scale.
    ///   - property: the name of the property, whose type is that of the binding, or a number if that is a number.
    ///   - binding: the state.
    public func bind<Value: ControlValue>(
      _ control: UnsafeMutableRawPointer, _ property: String, to binding: Binding<Value>
    ) {
      let control = ControlProperty<Value>(control, property)
      // The observation reads the control only while the screen is there, and retains it until then.
      observe { if control.value != binding.wrappedValue { control.value = binding.wrappedValue } }
      connect(control.object, "notify::\(property)") {
        if control.value != binding.wrappedValue { binding.wrappedValue = control.value }
      }
    }

    /// Keeps the keyboard's focus and a binding equal until the screen ends: the control gets the focus when the binding becomes true, and
    /// the binding becomes true while the control has the focus.
    ///
    ///     showing.bind(focusOf: name, to: $model.isOpen)
    public func bind(focusOf control: Widget, to isFocused: Binding<Bool>) {
      let owner = WidgetOwner(control)
      let controller = gtk_event_controller_focus_new()!
      var hasFocus: Bool { gtk_event_controller_focus_contains_focus(controller) != 0 }
      func follow(_ isFocused: Bool) {
        guard isFocused != hasFocus, gtk_widget_get_mapped(owner.widget) != 0 else { return }
        if isFocused {
          gtk_widget_grab_focus(owner.widget)
        } else if let root = gtk_widget_get_root(owner.widget) {
          gtk_root_set_focus(root, nil)
        }
      }
      gtk_widget_add_controller(control, controller)
      observe { follow(isFocused.wrappedValue) }
      // A widget gets no focus before it is on the screen.
      connect(control, "map") { follow(isFocused.wrappedValue) }
      connect(UnsafeMutableRawPointer(controller), "notify::contains-focus") {
        if isFocused.wrappedValue != hasFocus { isFocused.wrappedValue = hasFocus }
      }
    }

    /// Keeps the keyboard's focus and a selection equal, as ``bind(focusOf:to:)`` does: of several controls, one has the focus.
    ///
    ///     showing.bind(focusOf: name, to: $form.focus, equals: .name)
    ///     showing.bind(focusOf: street, to: $form.focus, equals: .street)
    public func bind<Field: Hashable & Codable>(focusOf control: Widget, to focus: Binding<Field?>, equals field: Field)
    {
      bind(focusOf: control, to: Binding(focus, tag: field))
    }
  }

  /// A property of an object, which is retained.
  @MainActor
  private final class ControlProperty<Value: ControlValue> {
    let object: UnsafeMutableRawPointer
    private let name: String

    init(_ object: UnsafeMutableRawPointer, _ name: String) {
      (self.object, self.name) = (g_object_ref_sink(object), name)
    }

    isolated deinit { g_object_unref(object) }

    private var gObject: UnsafeMutablePointer<GObject> { object.assumingMemoryBound(to: GObject.self) }

    var value: Value {
      get {
        var value = GValue()
        g_value_init(&value, Value.controlType)
        defer { g_value_unset(&value) }
        g_object_get_property(gObject, name, &value)
        return Value.read(&value)
      }
      set {
        var value = GValue()
        g_value_init(&value, Value.controlType)
        defer { g_value_unset(&value) }
        newValue.write(to: &value)
        g_object_set_property(gObject, name, &value)
      }
    }
  }
#endif
