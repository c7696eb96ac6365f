import TextFormats

/// The values of a path at one time. They are encoded when they are needed.
protocol PathValues {
  var count: Int { get }

  /// The value at a position, encoded.
  func element(_ index: Int) -> NavigationPath.Element

  /// The value at a position; nil if it is of another type.
  func value<Value: Decodable>(_ index: Int, of type: Value.Type) -> Value?

  /// The name of the value's type.
  func type(_ index: Int) -> String

  /// The text of the identity of a value.
  func id(_ index: Int) -> String

  /// Compares the lowest values with those of an earlier time.
  /// - Parameter count: how many there were.
  /// - Returns: how many are still the same, and those of them that were edited: their identity is the same.
  func kept(of former: any PathValues, _ count: Int) -> (count: Int, edited: [Int])
}

/// The values of an array.
struct ArrayValues<Element: Hashable & Codable>: PathValues {
  let values: [Element]

  var count: Int { values.count }

  func element(_ index: Int) -> NavigationPath.Element { NavigationPath.Element(values[index]) }

  func value<Value: Decodable>(_ index: Int, of type: Value.Type) -> Value? { values[index] as? Value }

  func type(_ index: Int) -> String { TypeName.of(Element.self) }

  /// That of an `Identifiable` value is its `id`; any other value is its own identity.
  func id(_ index: Int) -> String {
    if let value = values[index] as? any Identifiable, let id = identity(value) { return id }
    let json = element(index).value
    return (try? JSON.parse(json))?.string ?? json
  }

  func kept(of former: any PathValues, _ count: Int) -> (count: Int, edited: [Int]) {
    guard let former = (former as? ArrayValues)?.values else { return (0, []) }
    var edited: [Int] = []
    for index in 0..<min(count, values.count, former.count) where values[index] != former[index] {
      // A number that is not one does not equal itself.
      if NavigationPath.Element(values[index]) == NavigationPath.Element(former[index]) { continue }
      guard let value = values[index] as? any Identifiable, let earlier = former[index] as? any Identifiable,
        let id = identity(value), id == identity(earlier)
      else { return (index, edited) }
      edited.append(index)
    }
    return (min(count, values.count, former.count), edited)
  }

  /// nil if the id cannot be encoded, as that of an object.
  private func identity(_ value: some Identifiable) -> String? {
    (value.id as? any Encodable).map { Coding.id(of: $0) {} }
  }
}

/// The values of a path of several types. Each is its own identity: a value of another type is another element, even if its JSON is equal.
struct MixedValues: PathValues {
  let elements: [NavigationPath.Element]

  var count: Int { elements.count }

  func element(_ index: Int) -> NavigationPath.Element { elements[index] }

  func value<Value: Decodable>(_ index: Int, of type: Value.Type) -> Value? { elements[index].decoded(type) }

  func type(_ index: Int) -> String { elements[index].type }

  func id(_ index: Int) -> String { "\(elements[index].type) \(elements[index].value)" }

  func kept(of former: any PathValues, _ count: Int) -> (count: Int, edited: [Int]) {
    guard let former = (former as? MixedValues)?.elements else { return (0, []) }
    return (zip(elements, former).prefix(count).prefix { $0 == $1 }.count, [])
  }
}

/// A path of any kind, as used by its stack.
@MainActor
struct PathState {
  let route: BindingRoute
  let read: () -> any PathValues
  /// Keeps only the lowest `count` values.
  let truncate: (Int) -> Void
  /// Appends a value that was in the path.
  let putBack: (NavigationPath.Element) -> Void
  /// - Returns: false if the path cannot contain values of this type.
  let append: (any Hashable & Codable) -> Bool
  /// Replaces the value at a position by one of the same type.
  private let replace: (_ index: Int, any Hashable & Codable) -> Void

  init<Element: Hashable & Codable>(_ path: Binding<[Element]>) {
    route = path.route
    read = { ArrayValues(values: path.wrappedValue) }
    truncate = { count in
      if path.wrappedValue.count > count { path.wrappedValue.removeLast(path.wrappedValue.count - count) }
    }
    putBack = { element in
      if let value = element.decoded(Element.self) { path.wrappedValue.append(value) }
    }
    append = { value in
      guard let value = value as? Element else { return false }
      path.wrappedValue.append(value)
      return true
    }
    replace = { index, value in
      if let value = value as? Element { path.wrappedValue[index] = value }
    }
  }

  init(_ path: Binding<NavigationPath>) {
    route = path.route
    read = { MixedValues(elements: path.wrappedValue.elements) }
    truncate = { count in
      if path.wrappedValue.count > count { path.wrappedValue.removeLast(path.wrappedValue.count - count) }
    }
    putBack = { path.wrappedValue.elements.append($0) }
    append = { value in
      path.wrappedValue.append(value)
      return true
    }
    replace = { index, value in
      let element = NavigationPath.Element(value)
      if !element.value.isEmpty { path.wrappedValue.elements[index] = element }
    }
  }

  /// The binding of the value at a position. When it has left its position, the binding keeps the last value, and writes have no effect.
  /// - Returns: nil if there is no value of this type.
  func binding<Value: Hashable & Codable>(_ index: Int, of type: Value.Type) -> Binding<Value>? {
    let (read, replace) = (read, replace)
    let values = read()
    guard index < values.count, let value = values.value(index, of: type) else { return nil }
    let last = Last(value)
    var id = values.id(index)
    func current() -> Value? {
      let values = read()
      return index < values.count && values.id(index) == id ? values.value(index, of: type) : nil
    }
    return Binding(
      route.appending(.index(index)), read: { last.updated(to: current()) },
      write: {
        last.value = $0
        guard current() != nil else { return }
        replace(index, $0)
        id = read().id(index)
      })
  }
}
