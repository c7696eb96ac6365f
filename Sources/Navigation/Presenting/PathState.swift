import DBusValues
import PresentationModel
import TextFormats

/// The values of a path at one time. They are encoded on demand.
protocol PathValues {
  var count: Int { get }

  /// The encoded value at a position.
  func element(_ index: Int) -> NavigationPath.Element

  /// The value at a position; nil if it has another type.
  func value<Value: Decodable>(_ index: Int, of type: Value.Type) -> Value?

  /// The name of the type of a value.
  func type(_ index: Int) -> String

  /// The identity of a value as text.
  func id(_ index: Int) -> String

  /// Compares the lowest values with earlier ones.
  /// - Parameter count: the number of earlier values.
  /// - Returns: the number of values that are the same or have the same identity, and the positions of the latter, which were edited.
  func kept(of former: any PathValues, _ count: Int) -> (count: Int, edited: [Int])
}

/// The values of an array.
struct ArrayValues<Element: Hashable & Codable>: PathValues {
  let values: [Element]
  let type: String

  var count: Int { values.count }

  func element(_ index: Int) -> NavigationPath.Element { NavigationPath.Element(values[index]) }

  func value<Value: Decodable>(_ index: Int, of type: Value.Type) -> Value? { values[index] as? Value }

  func type(_ index: Int) -> String { type }

  /// The identity of a value: its `id` if it is `Identifiable`; any other value is its own identity.
  func id(_ index: Int) -> String {
    if let value = values[index] as? any Identifiable, let id = identity(value) { return id }
    let json = element(index).value
    return (try? JSON.parse(json))?.string ?? json
  }

  func kept(of former: any PathValues, _ count: Int) -> (count: Int, edited: [Int]) {
    guard let former = (former as? ArrayValues)?.values else { return (0, []) }
    var edited: [Int] = []
    for index in 0..<min(count, values.count, former.count) where values[index] != former[index] {
      // NaN does not equal itself.
      if NavigationPath.Element(values[index]) == NavigationPath.Element(former[index]) { continue }
      guard let value = values[index] as? any Identifiable, let earlier = former[index] as? any Identifiable,
        let id = identity(value), id == identity(earlier)
      else { return (index, edited) }
      edited.append(index)
    }
    return (min(count, values.count, former.count), edited)
  }

  /// The identity as text; nil if the id cannot be encoded, as for an object.
  private func identity(_ value: some Identifiable) -> String? {
    (value.id as? any Encodable).map { Coding.id(of: $0) {} }
  }
}

/// The values of a path of several types. Each value is its own identity: a value of another type is another element, even if its
/// JSON is equal.
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

/// A path of any kind, as its stack uses it.
@MainActor
struct PathState {
  let route: BindingRoute
  /// Whether other clients get the values.
  let isPublished: Bool
  let read: () -> any PathValues
  /// Keeps only the lowest `count` values.
  let truncate: (Int) -> Void
  /// Appends a value of an earlier reading.
  private let appendEarlier: (any PathValues, Int) -> Void
  /// - Returns: false if the path cannot contain values of this type.
  let append: (any Hashable & Codable) -> Bool
  /// Replaces the value at a position by another one of the same type.
  private let replace: (_ index: Int, any Hashable & Codable) -> Void
  /// Keeps only the lowest values, and appends elements that other clients have pushed, by their ids and values, as far as they decode.
  /// - Returns: the number of appended values. If it is 0, the path is unchanged.
  let splice: (_ count: Int, _ elements: [(id: String, value: Properties)]) -> Int
  /// Writes the value of an element that another client has edited, if it has the identity of the element.
  /// - Returns: whether it was written.
  let edit: (_ index: Int, Properties) -> Bool
  /// The elements that other clients may push.
  let accepts: (PathScreens) -> ServedEntry
  /// The identity that a value has in the path; nil if the path cannot contain it.
  private let id: (any Hashable & Codable) -> String?
  /// The values that screens have written into their elements. They are forgotten when the path was read for the coordinator, and when
  /// the screen has ended.
  private let written = WrittenValues()

  /// The written values, which the bindings of screens share. Another element may be in the place of one that may still decline.
  private final class WrittenValues {
    struct Key: Hashable {
      let position: Int
      let id: String
    }

    var all: [Key: any Hashable & Codable] = [:]
  }

  init<Element: Hashable & Codable>(_ path: Binding<[Element]>) {
    (route, isPublished) = (path.route, path.isPublished)
    let type = TypeName.of(Element.self)
    read = { ArrayValues(values: path.wrappedValue, type: type) }
    // The path is read once, since it may differ at each reading.
    truncate = { count in
      let values = path.wrappedValue
      if values.count > count { path.wrappedValue = Array(values.prefix(count)) }
    }
    appendEarlier = { former, index in
      if let former = former as? ArrayValues<Element> { path.wrappedValue.append(former.values[index]) }
    }
    id = { value in (value as? Element).map { ArrayValues(values: [$0], type: type).id(0) } }
    append = { value in
      guard let value = value as? Element else { return false }
      path.wrappedValue.append(value)
      return true
    }
    splice = { count, elements in
      var values = Array(path.wrappedValue.prefix(count))
      for element in elements {
        guard let value = Coding.element(Element.self, id: element.id, element.value),
          ArrayValues(values: [value], type: type).id(0) == element.id
        else { break }
        values.append(value)
      }
      if values.count > count { path.wrappedValue = values }
      return max(values.count - count, 0)
    }
    edit = { index, properties in
      var values = path.wrappedValue
      guard values.indices.contains(index), let value = Coding.value(Element.self, of: properties),
        ArrayValues(values: [value], type: type).id(0) == ArrayValues(values: values, type: type).id(index)
      else { return false }
      if values[index] != value {
        values[index] = value
        path.wrappedValue = values
      }
      return true
    }
    accepts = { screens in
      if screens.isDeclared(type) { return ServedEntry(path: Element.self) }
      var none = ServedEntry([:])
      (none.elements, none.type) = (true, type)
      return none
    }
    replace = { index, value in
      var values = path.wrappedValue
      guard let value = value as? Element, values.indices.contains(index) else { return }
      values[index] = value
      path.wrappedValue = values
    }
  }

  init(_ path: Binding<NavigationPath>) {
    (route, isPublished) = (path.route, path.isPublished)
    read = { MixedValues(elements: path.wrappedValue.elements) }
    truncate = { count in
      var values = path.wrappedValue
      guard values.count > count else { return }
      values.removeLast(values.count - count)
      path.wrappedValue = values
    }
    appendEarlier = { former, index in path.wrappedValue.elements.append(former.element(index)) }
    id = { value in MixedValues(elements: [NavigationPath.Element(value)]).id(0) }
    append = { value in
      path.wrappedValue.append(value)
      return true
    }
    splice = { count, elements in
      var values = NavigationPath(elements: Array(path.wrappedValue.elements.prefix(count)))
      for element in elements {
        guard let space = element.id.firstIndex(of: " ") else { break }
        values.elements.append(
          NavigationPath.Element(
            type: String(element.id[..<space]), value: String(element.id[element.id.index(after: space)...])))
      }
      if values.count > count { path.wrappedValue = values }
      return max(values.count - count, 0)
    }
    // Each value is its own identity.
    edit = { _, _ in false }
    accepts = { ServedEntry(pathOf: $0.types) }
    replace = { index, value in
      let element = NavigationPath.Element(value)
      var values = path.wrappedValue
      guard !element.value.isEmpty, values.elements.indices.contains(index) else { return }
      values.elements[index] = element
      path.wrappedValue = values
    }
  }

  /// Writes the elements that other clients have requested, in one change. Each ends those above it.
  func adopt(_ items: [RequestedEntry]) {
    var kept = read().count
    var added: [(id: String, value: Properties)] = []
    for item in items {
      guard let index = item.binding.flatMap(StackElement.parts)?.index, index >= 0, index <= kept + added.count else {
        continue
      }
      if index < kept { (kept, added) = (index, []) }
      added.removeSubrange((index - kept)...)
      added.append((item.id ?? "", item.value ?? [:]))
    }
    if !added.isEmpty { _ = splice(kept, added) }
  }

  /// Appends a value of an earlier reading, as its screen has written it since.
  /// - Returns: whether the screen has written it.
  func putBack(_ index: Int, of former: any PathValues) -> Bool {
    guard let value = written.all.removeValue(forKey: WrittenValues.Key(position: index, id: former.id(index))) else {
      appendEarlier(former, index)
      return false
    }
    return append(value)
  }

  /// Forgets the values that screens have written at the lowest positions, since those were read.
  func forgetWritten(_ values: any PathValues, below count: Int) {
    if written.all.isEmpty { return }
    written.all = written.all.filter { $0.key.position >= count || $0.key.id != values.id($0.key.position) }
  }

  /// Forgets the value that a screen has written, because the screen has ended.
  func forgetWritten(_ values: any PathValues, at index: Int) {
    if written.all.isEmpty { return }
    written.all[WrittenValues.Key(position: index, id: values.id(index))] = nil
  }

  /// The binding of the value at a position. When the value has left its position, the binding keeps the last value. Writes then do not
  /// change the path, but are written back if the screen of the value declines.
  /// - Returns: nil if the value has another type.
  func binding<Value: Hashable & Codable>(_ index: Int, of type: Value.Type) -> Binding<Value>? {
    let (read, replace, written, identity) = (read, replace, written, self.id)
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
        if let id = identity($0) { written.all[WrittenValues.Key(position: index, id: id)] = $0 }
        guard current() != nil else { return }
        replace(index, $0)
        let values = read()
        if index < values.count { id = values.id(index) }
      })
  }
}
