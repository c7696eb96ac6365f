extension Binding {
  /// Creates a binding of the value in an optional; nil if the optional is nil. If the optional becomes nil later, the binding keeps
  /// the last value, and writes do not set the optional again.
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
  public init<Wrapped>(_ base: Binding<Wrapped>) where Value == Wrapped? {
    let (origin, base) = (base, base.bare)
    self = origin.derived(
      .optional, read: { base.wrappedValue }, write: { if let value = $0 { base.wrappedValue = value } })
  }

  /// Creates a binding that is true while an optional is not nil. Writing false sets the optional to nil. Writing true has no effect,
  /// because there is no value to set, and is reported as misuse if the optional is nil. An optional `Void` can be set.
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
      })
  }

  /// Creates a binding that is true while a selection equals a tag (G3). Writing true selects the tag. Writing false clears the
  /// selection if it equals the tag.
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

extension Binding where Value: MutableCollection, Value.Index == Int {
  /// The binding of an element. After the element is gone, the binding keeps the last value, and writes have no effect.
  /// - Precondition: the collection has an element at the index.
  public subscript(index: Int) -> Binding<Value.Element> { element(index, wrappedValue[index]) }

  fileprivate func element(_ index: Int, _ value: Value.Element) -> Binding<Value.Element> {
    let base = bare
    let last = Last(value)
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

/// The bindings of the elements, for a loop: `for note in $model.notes { … }`.
extension Binding: Sequence, Collection, BidirectionalCollection, RandomAccessCollection
where Value: MutableCollection & RandomAccessCollection, Value.Index == Int {
  public typealias Element = Binding<Value.Element>
  public typealias Index = Int
  public typealias Indices = Range<Int>

  public var startIndex: Int { wrappedValue.startIndex }
  public var endIndex: Int { wrappedValue.endIndex }

  /// The bindings of the elements, in their order. The loop may remove an element; the iterator
  /// then skips the element that takes its place.
  public struct Iterator: IteratorProtocol {
    fileprivate let base: Binding
    fileprivate var index: Int

    public mutating func next() -> Binding<Value.Element>? {
      let elements = base.wrappedValue
      guard elements.indices.contains(index) else { return nil }
      defer { index += 1 }
      return base.element(index, elements[index])
    }
  }

  public func makeIterator() -> Iterator { Iterator(base: self, index: startIndex) }
}
