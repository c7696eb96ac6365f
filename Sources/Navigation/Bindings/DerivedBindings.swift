extension Binding {
  /// Creates a binding of the value in an optional; nil if the optional is nil. If the optional becomes nil later, the binding keeps
  /// the last value, and writes do not set the optional again.
  ///
  ///     if let note = Binding($model.note) { note.text.wrappedValue = "Milk" }
  public init?(_ base: Binding<Value?>) {
    guard let value = base.wrappedValue else { return nil }
    self.init(base, last: Last(value))
  }

  /// - Parameter isSame: whether a value of the optional belongs to this binding; any other value counts as nil.
  init(_ base: Binding<Value?>, last: Last<Value>, while isSame: @escaping (Value) -> Bool = { _ in true }) {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .unwrapped, read: { last.updated(to: base.wrappedValue.flatMap { isSame($0) ? $0 : nil }) },
      write: {
        last.value = $0
        if base.wrappedValue.map(isSame) == true { base.wrappedValue = $0 }
      })
  }

  /// Creates a binding of a value as an optional that is never nil. Writing nil has no effect.
  ///
  ///     let note: Binding<Note?> = Binding($note)
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .optional, read: { base.wrappedValue }, write: { if let value = $0 { base.wrappedValue = value } })
  }

  /// Creates a binding that is true while an optional is not nil. Writing false sets the optional to nil. Writing true has no effect,
  /// because there is no value to set, and is reported as misuse if the optional is nil. An optional `Void` can be set.
  ///
  ///     let isOpen: Binding<Bool> = Binding($model.note)
  ///     isOpen.wrappedValue = false        // The note is nil.
  ///     navigator.present(isPresented: Binding($model.destination.help)) { Window("Help") }
  public init<Wrapped>(_ base: Binding<Wrapped?>, file: StaticString = #fileID, line: UInt = #line)
  where Value == Bool {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .isPresent, read: { base.wrappedValue != nil },
      write: { isPresent in
        guard isPresent else { return base.wrappedValue = nil }
        guard base.wrappedValue == nil else { return }
        if let nothing = () as? Wrapped, Wrapped.self == Void.self { return base.restore(nothing) }
        reportMisuse(
          "true was written to a binding of whether a \(Wrapped.self) is present, but this cannot create a \(Wrapped.self); "
            + "write a value to the optional itself", file: file, line: line)
      }, isVacant: base.isVacant)
  }

  /// Creates a binding that is true while a selection equals a tag (G3). Writing true selects the tag. Writing false clears the
  /// selection if it equals the tag.
  ///
  ///     let isHelp = Binding($model.panel, tag: .help)
  ///     isHelp.wrappedValue = true         // The panel is .help.
  public init<Tag: Hashable & Codable>(_ selection: Binding<Tag?>, tag: Tag) where Value == Bool {
    let text = Coding.id(of: tag) {
      reportMisuse(
        "the tag \(tag) cannot be encoded; its description in Swift is used, which other programs may not know",
        of: selection.route.root)
    }
    let (origin, selection) = (selection, selection.bare)
    self = origin.derived(
      .tag(text), name: BindingName.name(for: text), read: { selection.wrappedValue == tag },
      write: { isSelected in
        if isSelected {
          selection.wrappedValue = tag
        } else if selection.wrappedValue == tag {
          selection.wrappedValue = nil
        }
      })
  }
}
