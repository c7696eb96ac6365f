import DBusValues

/// An interface with its implementation. It may serve any number of objects, since it receives the path of the object.
public final class ImplementedInterface {
  /// A structure, since a dictionary of functions makes a new function at each look-up.
  struct MethodHandler {
    /// Reads the arguments and calls the implementation; replies with an error if they cannot be read.
    let serve: (Message, ReplyAddress, ObjectPath, Connection) -> Void
  }

  struct PropertyHandler {
    let name: String
    let emitsChanged: EmitsChanged
    let get: (ObjectPath) -> Value?
    let set: ((Value, ObjectPath) throws(DBusError) -> Void)?
  }

  /// Passes on the values of some properties of an object, with their names and types, in the order of the contract.
  ///
  /// A structure, since an array of functions makes two more functions of each one, also for its argument.
  @usableFromInline
  struct Reader {
    @usableFromInline let read: (ObjectPath, (PropertyHeader, Value) -> Void) -> Void

    @usableFromInline
    init(_ read: @escaping (ObjectPath, (PropertyHeader, Value) -> Void) -> Void) { self.read = read }
  }

  public let interface: Interface
  /// The name whose owner alone may call the methods; nil: everybody may.
  let caller: BusName?
  private var methods: [String: MethodHandler] = [:]
  /// Implements the method of a name, if there is one.
  private let implementMethod: ((String, ImplementedInterface) -> Void)?
  /// Implements the properties; nil afterwards, or if there are none.
  private var implementProperties: ((ImplementedInterface) -> Void)?
  private var implementedProperties: [PropertyHandler] = []
  private var implementedReaders: [Reader] = []
  /// The XML for `Introspect`.
  private(set) lazy var xml: String = {
    let members = Set(interface.members.map(\.name.text))
    let strangers = (Array(methods.keys) + properties.map(\.name)).filter { !members.contains($0) }
    precondition(strangers.isEmpty, "\(strangers) are not members of \(interface.name)")
    var xml = IntrospectionXML(docs: .annotations, depth: 1)
    xml.interface(interface)
    return xml.text
  }()

  /// - Parameter caller: the name whose owner alone may call the methods; nil: everybody may. Calls that arrive while nobody owns it
  ///   wait until somebody does.
  public init(_ interface: Interface, calledBy caller: BusName? = nil) {
    self.interface = interface
    self.caller = caller
    (implementMethod, implementProperties) = (nil, nil)
  }

  /// Makes an interface with many members. The service starts sooner if they are implemented when they are used.
  /// - Parameters:
  ///   - implementMethod: called with the name of a method that is called and not implemented yet. It implements the method, if there
  ///     is one with this name.
  ///   - implementProperties: called once, before the first use of a property.
  public init(
    _ interface: Interface, implementMethod: @escaping (String, ImplementedInterface) -> Void,
    implementProperties: @escaping (ImplementedInterface) -> Void
  ) {
    self.interface = interface
    caller = nil
    self.implementMethod = implementMethod
    self.implementProperties = implementProperties
  }

  /// The code that serves a method; nil if no method has this name.
  func method(_ name: String) -> MethodHandler? {
    if let method = methods[name] { return method }
    implementMethod?(name, self)
    return methods[name]
  }

  /// The properties, in the order of the contract.
  var properties: [PropertyHandler] {
    implementLateProperties()
    return implementedProperties
  }

  private func implementLateProperties() {
    guard let implement = implementProperties else { return }
    implementProperties = nil
    implement(self)
  }

  /// Implements a method.
  /// - Parameters:
  ///   - takesDescriptors: whether variants may have descriptors. If not, and if none are declared, a call with descriptors is refused.
  /// - Precondition: the method belongs to this interface.
  public func implement<Input, Output>(
    _ method: Method<Input, Output>, takesDescriptors: Bool = false,
    _ body: @escaping (Input, Call<Output>) -> Void
  ) {
    check(method.name.text, of: method.interface)
    let takesDescriptors = takesDescriptors || method.inArguments.signature.hasDescriptors
    let (caller, body) = (caller, restricted(body))
    methods[method.name.text] = MethodHandler { message, address, path, connection in
      guard takesDescriptors || !message.hasDescriptors else {
        return connection.fail(address, .undeclaredDescriptors())
      }
      if let caller { connection.suspend(address.caller, untilOwned: caller) }
      let read = { (budget: inout Int) throws(DBusError) in try method.input(of: message, budget: &budget) }
      connection.withArguments(of: address, read) { [unowned connection] input in
        body(input, Call(method, address, path, connection))
      }
    }
  }

  private func restricted<Input, Output>(
    _ body: @escaping (Input, Call<Output>) -> Void
  ) -> (Input, Call<Output>) -> Void {
    guard let caller else { return body }
    return { input, call in
      if let error = call.connection.refusal(of: call.sender, unlessOwning: caller) { return call.fail(error) }
      body(input, call)
    }
  }

  /// Implements a property.
  /// - Parameters:
  ///   - get: returns the value for the object; nil if the object does not exist any more.
  ///   - set: sets the value; its error is sent to the caller.
  /// - Precondition: the property belongs to this interface; `set` is given if and only if it is writable.
  public func implement<T>(
    _ property: Property<T>, get: @escaping (ObjectPath) -> T?,
    set: ((T, ObjectPath) throws(DBusError) -> Void)? = nil
  ) {
    check(property.name.text, of: property.interface)
    precondition(
      (set != nil) == (property.access == .readWrite), "\(property.name): expected a setter only for readWrite")
    var setter: ((Value, ObjectPath) throws(DBusError) -> Void)?
    if let set {
      setter = { value, path throws(DBusError) in
        guard let new = T(value: value) else {
          throw DBusError(
            name: .invalidArgs,
            message: "property “\(property.name)”: expected \(T.valueType), found \(value.type)")
        }
        try set(new, path)
      }
    }
    let read = { path in get(path).map { $0.value } }
    implementedProperties.append(
      PropertyHandler(name: property.name.text, emitsChanged: property.emitsChanged, get: read, set: setter))
    implementedReaders.append(Reader { path, body in if let value = read(path) { body(property.header, value) } })
  }

  /// Implements read-only properties of objects. `find` is called once for all properties that are read together.
  /// - Parameter find: returns the object; nil if it does not exist any more.
  /// - Precondition: the properties belong to this interface.
  ///
  /// Inlined, so that it is specialized for the type of the objects.
  @inlinable
  public func implement<Object>(_ properties: [PropertyOf<Object>], find: @escaping (ObjectPath) -> Object?) {
    for property in properties {
      add(property.header, of: property.interface, property.emitsChanged) { find($0).map(property.get) }
    }
    addReader(
      Reader { path, body in
        guard let object = find(path) else { return }
        for property in properties { body(property.header, property.get(object)) }
      })
  }

  @usableFromInline
  func add(
    _ header: PropertyHeader, of interface: InterfaceName, _ emitsChanged: EmitsChanged,
    _ get: @escaping (ObjectPath) -> Value?
  ) {
    check(header.name, of: interface)
    implementedProperties.append(PropertyHandler(name: header.name, emitsChanged: emitsChanged, get: get, set: nil))
  }

  @usableFromInline
  func addReader(_ reader: Reader) { implementedReaders.append(reader) }

  private func check(_ member: String, of interface: InterfaceName) {
    precondition(interface == self.interface.name, "\(interface).\(member) is not a member of \(self.interface.name)")
  }

  /// Passes on the values of all properties of an object, in the order of the contract.
  func forEachValue(of path: ObjectPath, _ body: (PropertyHeader, Value) -> Void) {
    implementLateProperties()
    for reader in implementedReaders { reader.read(path, body) }
  }
}

/// A read-only property with the code that reads it from an object.
public final class PropertyOf<Object> {
  @usableFromInline let interface: InterfaceName
  @usableFromInline let header: PropertyHeader
  @usableFromInline let emitsChanged: EmitsChanged
  @usableFromInline let get: (Object) -> Value

  /// Inlined, so that it is specialized for the type of the property.
  @inlinable
  public init<T>(_ property: Property<T>, _ get: @escaping (Object) -> T) {
    precondition(property.access == .read, "\(property.name): expected a read-only property")
    interface = property.interface
    header = property.header
    emitsChanged = property.emitsChanged
    self.get = { get($0).value }
  }
}
