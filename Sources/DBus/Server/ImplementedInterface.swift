// Why this file exists: what a contract says, bound to what is done about it.

import DBusValues

/// An interface with the code behind it. One of these serves any number of objects: the code is told which.
public final class ImplementedInterface {
  /// Reads the arguments and hands them to the code; answers with an error where it cannot.
  typealias MethodHandler = (Message, ReplyAddress, ObjectPath, Connection) -> Void

  struct PropertyHandler {
    let name: String
    let emitsChanged: EmitsChanged
    let get: (ObjectPath) -> Value?
    let set: ((Value, ObjectPath) throws(DBusError) -> Void)?
  }

  /// Called with a property and its value.
  @usableFromInline typealias Visitor = (PropertyHead, Value) -> Void

  public let interface: Interface
  private(set) var methods: [String: MethodHandler] = [:]
  /// In the order of the contract.
  private(set) var properties: [PropertyHandler] = []
  private var readers: [(ObjectPath, Visitor) -> Void] = []
  /// For `Introspect`.
  private(set) lazy var xml: String = {
    var xml = IntrospectionXML(docs: .annotations, depth: 1)
    xml.interface(interface)
    return xml.text
  }()

  public init(_ interface: Interface) { self.interface = interface }

  /// Serves a method.
  /// - Precondition: it is of this interface.
  public func implement<Input, Output>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, Call<Output>) -> Void
  ) {
    check(method.name.text, of: method.interface)
    methods[method.name.text] = { message, address, path, connection in
      let read = { (budget: inout Int) throws(DBusError) in try method.input(of: message, budget: &budget) }
      connection.withArguments(of: address, read) { input, held in
        let call = Call(method, address, path, connection)
        if let held { held.append { body(input, call) } } else { body(input, call) }
      }
    }
  }

  /// Serves a property.
  /// - Parameters:
  ///   - get: the value for the object; nil where there is none any more.
  ///   - set: where the contract lets it be set; throws what the caller is told.
  /// - Precondition: it is of this interface, and `set` is there exactly where the contract wants it.
  public func implement<T>(
    _ property: Property<T>, get: @escaping (ObjectPath) -> T?,
    set: ((T, ObjectPath) throws(DBusError) -> Void)? = nil
  ) {
    check(property.name.text, of: property.interface)
    precondition((set != nil) == (property.access == .readWrite), "\(property.name): the contract says otherwise")
    var setter: ((Value, ObjectPath) throws(DBusError) -> Void)?
    if let set {
      setter = { value, path throws(DBusError) in
        guard let new = T(value: value) else {
          throw DBusError(
            name: .invalidArgs,
            message: "property “\(property.name)”: \(value.type) was given, and it has to be \(T.valueType)")
        }
        try set(new, path)
      }
    }
    let read = { path in get(path).map { $0.value } }
    properties.append(
      PropertyHandler(name: property.name.text, emitsChanged: property.emitsChanged, get: read, set: setter))
    readers.append { path, visit in
      if let value = read(path) { visit(property.head, value) }
    }
  }

  /// Serves properties that can only be read, of objects that are looked for once, however many of them are asked for.
  /// - Parameter find: nil where there is no such object any more.
  /// - Precondition: they are of this interface.
  ///
  /// Inlined where it is called, where the type of the objects is known.
  @inlinable
  public func implement<Object>(_ properties: [PropertyOf<Object>], find: @escaping (ObjectPath) -> Object?) {
    for property in properties {
      add(property.head, of: property.interface, property.emitsChanged) { find($0).map(property.get) }
    }
    addReader { path, visit in
      guard let object = find(path) else { return }
      for property in properties { visit(property.head, property.get(object)) }
    }
  }

  @usableFromInline
  func add(
    _ head: PropertyHead, of interface: InterfaceName, _ emitsChanged: EmitsChanged,
    _ get: @escaping (ObjectPath) -> Value?
  ) {
    check(head.name, of: interface)
    properties.append(PropertyHandler(name: head.name, emitsChanged: emitsChanged, get: get, set: nil))
  }

  @usableFromInline
  func addReader(_ reader: @escaping (ObjectPath, Visitor) -> Void) { readers.append(reader) }

  private func check(_ member: String, of interface: InterfaceName) {
    precondition(
      interface == self.interface.name && self.interface.members.contains { $0.name.text == member },
      "\(interface).\(member) is no member of \(self.interface.name)")
  }

  /// Visits the values of all properties of an object, in the order of the contract.
  func forEachValue(of path: ObjectPath, _ visit: Visitor) {
    for read in readers { read(path, visit) }
  }

  /// The values of all properties of an object.
  func values(of path: ObjectPath) -> Properties {
    var values: Properties = [:]
    forEachValue(of: path) { values[$0.name] = $1 }
    return values
  }
}

/// A property of a kind of object that can only be read, with the code that reads it.
public final class PropertyOf<Object> {
  @usableFromInline let interface: InterfaceName
  @usableFromInline let head: PropertyHead
  @usableFromInline let emitsChanged: EmitsChanged
  @usableFromInline let get: (Object) -> Value

  /// Inlined where it is called, where the type of the property is known.
  @inlinable
  public init<T>(_ property: Property<T>, _ get: @escaping (Object) -> T) {
    precondition(property.access == .read, "\(property.name): the contract says otherwise")
    interface = property.interface
    head = property.head
    emitsChanged = property.emitsChanged
    self.get = { get($0).value }
  }
}
