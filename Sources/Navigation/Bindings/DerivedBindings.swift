// Why this file exists: state has other shapes than what drives a screen — optional or not, one of many, a case of an enum
// — and the laws by which one becomes the other are written once.

extension Binding {
  /// What is in an optional, for as long as somebody needs it: nil where the optional is nil. When it becomes nil later, the
  /// binding holds what was there last, and writes to it do not bring it back.
  public init?(_ base: Binding<Value?>) {
    guard let value = base.wrappedValue else { return nil }
    self.init(base, last: Last(value))
  }

  init(_ base: Binding<Value?>, last: Last<Value>) {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .unwrapped, read: { last.updated(to: base.wrappedValue) },
      write: {
        last.value = $0
        if base.wrappedValue != nil { base.wrappedValue = $0 }
      })
  }

  /// What is there, as something that could be nil: it never is, and writing nil does nothing.
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .optional, read: { base.wrappedValue }, write: { if let value = $0 { base.wrappedValue = value } })
  }

  /// Whether an optional is not nil. Writing false makes it nil; writing true does nothing, since there is nothing to be made
  /// of it (and says so, where it is nil).
  public init<Wrapped>(_ base: Binding<Wrapped?>, file: StaticString = #fileID, line: UInt = #line)
  where Value == Bool {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .isPresent, read: { base.wrappedValue != nil },
      write: { isPresent in
        guard isPresent else { return base.wrappedValue = nil }
        guard base.wrappedValue == nil else { return }
        reportMisuse(
          "true was written to whether a \(Wrapped.self) is there, but no \(Wrapped.self) can be made of that; write one to "
            + "the optional itself", file: file, line: line)
      })
  }

  /// Whether a selection is this tag (rule G3): true where it is; writing true selects the tag, writing false clears the
  /// selection if it is the tag.
  public init<Tag: Hashable & Codable>(_ selection: Binding<Tag?>, tag: Tag) where Value == Bool {
    let text = Coding.id(of: tag)
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

extension Binding where Value: MutableCollection, Value.Index == Int {
  /// The binding of an element, found at once wherever it stands. When there is no such element any more, it holds what was
  /// there last, and writes to it change nothing.
  /// - Precondition: there is an element at the index.
  public subscript(index: Int) -> Binding<Value.Element> {
    let base = bare
    let last = Last(base.wrappedValue[index])
    return derived(
      .index(index),
      read: {
        let elements = base.wrappedValue
        return last.updated(to: elements.indices.contains(index) ? elements[index] : nil)
      },
      write: {
        last.value = $0
        var elements = base.wrappedValue
        guard elements.indices.contains(index) else { return }
        elements[index] = $0
        base.wrappedValue = elements
      })
  }
}

/// A case of an enum, as something that can be taken out and put in.
public struct EnumCase<Root, Payload>: Sendable {
  /// What it is called on the bus.
  let name: String
  let embed: @Sendable (Payload) -> Root
  let extract: @Sendable (Root) -> Payload?

  /// - Parameters:
  ///   - name: the case's name.
  ///   - embed: makes the enum of what the case carries: the case itself.
  ///   - extract: what the case carries; nil for every other case.
  /// - Precondition: `name` is a name (B1).
  public init(
    _ name: String, _ embed: @escaping @Sendable (Payload) -> Root, extract: @escaping @Sendable (Root) -> Payload?
  ) {
    precondition(BindingName.isName(name), "“\(name)” is no name; the case's own would do")
    self.name = name
    self.embed = embed
    self.extract = extract
  }
}

extension Binding {
  /// What a case of an enum carries: nil where another case is there. While another case is there, writes do nothing;
  /// writing nil makes the enum nil.
  public func `case`<Root, Payload>(_ path: EnumCase<Root, Payload>) -> Binding<Payload?> where Value == Root? {
    let base = bare
    return derived(
      .enumCase(path.name), name: path.name, read: { base.wrappedValue.flatMap(path.extract) },
      write: { payload in
        guard let root = base.wrappedValue, path.extract(root) != nil else { return }
        base.wrappedValue = payload.map(path.embed)
      })
  }

  /// What a case of an enum carries, where that case is there. When another is later, it holds what was there last, and writes
  /// to it do nothing.
  public func `case`<Payload>(_ path: EnumCase<Value, Payload>) -> Binding<Payload>? {
    guard let payload = path.extract(wrappedValue) else { return nil }
    let base = bare
    let last = Last(payload)
    return derived(
      .enumCase(path.name), name: path.name, read: { last.updated(to: path.extract(base.wrappedValue)) },
      write: {
        last.value = $0
        if path.extract(base.wrappedValue) != nil { base.wrappedValue = path.embed($0) }
      })
  }
}
