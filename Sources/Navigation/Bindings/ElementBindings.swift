// A binding of an element keeps to the element, wherever that stands in the collection: by its `id`.

extension Binding
where Value: MutableCollection & RangeReplaceableCollection, Value.Index == Int, Value.Element: Identifiable {
  /// The binding of the element with an id; its value is nil while the collection has none.
  ///
  ///     let note = $model.notes[id: 7]
  ///     note.text.wrappedValue = "Milk"     // The note with the id 7 gets it, at whatever index it is.
  ///     note.wrappedValue = nil             // The note is removed.
  ///
  /// Writing nil removes the element. While there is none, writing a value has no effect. A value with another id is not written, and is
  /// reported as misuse.
  public subscript(id id: Value.Element.ID) -> Binding<Value.Element?> {
    let (base, place) = (bare, ElementPlace<Value>(of: id, in: route))
    return derived(
      .element(place.text), name: place.name,
      read: {
        let elements = base.wrappedValue
        return place.index(in: elements).map { elements[$0] }
      },
      write: { value in
        var elements = base.wrappedValue
        guard let index = place.index(in: elements) else { return }
        guard let value else {
          elements.remove(at: index)
          return base.wrappedValue = elements
        }
        guard place.accepts(value) else { return }
        elements[index] = value
        base.wrappedValue = elements
      },
      overwrite: { value in
        guard let value, place.accepts(value) else { return }
        var elements = base.wrappedValue
        if let index = place.index(in: elements) { elements[index] = value } else { elements.append(value) }
        base.wrappedValue = elements
      })
  }
}

extension Binding where Value: MutableCollection, Value.Index == Int, Value.Element: Identifiable {
  /// The binding of the element that has this index now. The binding keeps to the element, by its id, when other elements are added,
  /// removed or moved. After the element is gone, the binding keeps the last value, and writes have no effect. A value with another id is
  /// not written, and is reported as misuse.
  ///
  ///     let note = $model.notes[0]
  ///     model.notes.removeFirst()
  ///     note.text.wrappedValue = "Milk"    // Its note is gone: no other one gets it.
  ///
  /// - Precondition: the collection has an element at the index.
  public subscript(index: Int) -> Binding<Value.Element> { element(wrappedValue[index], at: index) }

  fileprivate func element(_ element: Value.Element, at index: Int) -> Binding<Value.Element> {
    let (base, last) = (bare, Last(element))
    let place = ElementPlace<Value>(of: element.id, at: index, in: route)
    return derived(
      .element(place.text), name: place.name,
      read: {
        let elements = base.wrappedValue
        return last.updated(to: place.index(in: elements).map { elements[$0] })
      },
      write: {
        guard place.accepts($0) else { return }
        last.value = $0
        var elements = base.wrappedValue
        guard let index = place.index(in: elements) else { return }
        elements[index] = $0
        base.wrappedValue = elements
      })
  }
}

extension Binding where Value: MutableCollection {
  /// An element without an identity has no binding: after a change of the collection, another element would have its index. So this ends
  /// the program.
  @available(
    *, deprecated, message: "a binding keeps to its element by the id, so the elements have to be Identifiable"
  )
  public subscript(index: Value.Index) -> Binding<Value.Element> {
    preconditionFailure(
      "a binding of an element of “\(route.description)” by its index: expected elements that are Identifiable, found \(Value.Element.self)"
    )
  }
}

/// The bindings of the elements, for a loop: `for note in $model.notes { … }`.
extension Binding: Sequence, Collection, BidirectionalCollection, RandomAccessCollection
where Value: MutableCollection & RandomAccessCollection, Value.Index == Int, Value.Element: Identifiable {
  public typealias Element = Binding<Value.Element>
  public typealias Index = Int
  public typealias Indices = Range<Int>

  public var startIndex: Int { wrappedValue.startIndex }
  public var endIndex: Int { wrappedValue.endIndex }

  /// The bindings of the elements, in their order. The loop may change the collection: elements that are gone are left out, and new ones
  /// have no turn.
  ///
  ///     var notes: Binding<[Note]>.Iterator = $model.notes.makeIterator()
  ///     while let note = notes.next() { note.isDone.wrappedValue = true }
  public struct Iterator: IteratorProtocol {
    fileprivate let base: Binding
    /// The elements at the beginning of the loop.
    fileprivate let elements: Value
    fileprivate var index: Int

    public mutating func next() -> Binding<Value.Element>? {
      while index < elements.endIndex {
        defer { index += 1 }
        let element = elements[index]
        let place = ElementPlace<Value>(of: element.id, at: index, in: base.route)
        if place.index(in: base.wrappedValue) != nil { return base.element(element, at: index) }
      }
      return nil
    }
  }

  public func makeIterator() -> Iterator {
    let elements = wrappedValue
    return Iterator(base: self, elements: elements, index: elements.startIndex)
  }
}

/// The place of an element in a collection: where the element with an id is.
private final class ElementPlace<Elements: MutableCollection>
where Elements.Index == Int, Elements.Element: Identifiable {
  private let id: Elements.Element.ID
  private let collection: BindingRoute
  /// The index at which the element was last.
  private var last: Int?

  init(of id: Elements.Element.ID, at index: Int? = nil, in collection: BindingRoute) {
    (self.id, self.collection, last) = (id, collection, index)
  }

  /// The id as text.
  var text: String {
    switch id {
    case let number as any BinaryInteger: "\(number)"
    case let id as any Encodable: Coding.id(of: id) {}
    default: String(reflecting: id)
    }
  }

  /// The name of the element on the bus: `notes._7` for the id 7, since `notes[7]` is a position in a path.
  var name: String { BindingName.name(for: id is any BinaryInteger ? "_\(text)" : text) }

  /// The index of the element; nil if it is gone.
  func index(in elements: Elements) -> Int? {
    if let last, elements.indices.contains(last), elements[last].id == id { return last }
    let found = elements.firstIndex { $0.id == id }
    if let found { last = found }
    return found
  }

  /// Whether a value has the identity of the element. If it does not, this is reported.
  func accepts(_ value: Elements.Element) -> Bool {
    if value.id == id { return true }
    reportMisuse(
      "an element of “\(collection.description)” with the id \(value.id) was written to the binding of the element with the id \(id); "
        + "it is not written: expected the same id", of: collection.root)
    return false
  }
}
