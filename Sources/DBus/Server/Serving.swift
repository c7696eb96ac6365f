import CDBus
import DBusValues
import Glibc

extension Connection {
  // MARK: Exporting

  /// Exports an object that implements the interfaces, as well as Peer, Introspectable and Properties.
  /// - Parameter isObjectManager: whether the object also implements ObjectManager for the objects below it.
  public func export(_ path: ObjectPath, _ interfaces: [ImplementedInterface], isObjectManager: Bool = false) {
    for caller in interfaces.compactMap(\.caller) { require(caller) }
    objects.tree.export(path, ObjectTree.Object(interfaces: interfaces, isManager: isObjectManager))
  }

  public func unexport(_ path: ObjectPath) { objects.tree.unexport(path) }

  /// Exports all objects of a provider below a path. No other object may be exported there. Nothing is stored for each object.
  public func exportSubtree(_ prefix: ObjectPath, _ provider: any ObjectProvider) {
    objects.tree.exportSubtree(prefix, provider)
  }

  // MARK: Finding

  /// All interfaces at a path, which may only have objects below it; nil if there is no object at or below the path.
  func interfaces(at path: ObjectPath) -> [ImplementedInterface]? {
    let standard = standardInterfaces
    if let object = objects.tree.object(at: path) {
      let manager = object.isManager ? [standard.manager] : []
      return object.interfaces + [standard.properties, standard.introspection, standard.peer] + manager
    }
    return objects.tree.hasDescendants(path) ? [standard.introspection, standard.peer] : nil
  }

  func serve(_ call: Message) {
    guard let address = ReplyAddress(call), let path = call.path, let member = dbus_message_get_member(call.raw) else {
      return
    }
    serve(call, member, at: path, address)
  }

  /// Reads the arguments of a call, and has `body` called with them in the next round of its client (``Rounds``). If the arguments are
  /// invalid or too large, it replies with an error.
  func withArguments<Input>(
    of address: ReplyAddress, _ read: (_ budget: inout Int) throws(DBusError) -> Input,
    _ body: @escaping (Input) -> Void
  ) {
    let room = min(rounds.room(for: address.caller), limits.requestBytes)
    let refusal = room < limits.requestBytes ? limits.tooManyCalls : limits.requestTooLarge
    var budget = room
    do throws(DBusError) {
      guard room >= 0 else { throw refusal }
      let input = try read(&budget)
      rounds.append({ body(input) }, of: address.caller, size: room - budget)
    } catch {
      if error.name == .limitsExceeded { fail(address, refusal) } else { failInOrder(address, error) }
    }
  }

  /// Answers a call that cannot be served after the earlier calls of its client, if there is room for it.
  private func failInOrder(_ address: ReplyAddress, _ error: DBusError) {
    guard rounds.isWaiting(address.caller), rounds.room(for: address.caller) >= 0 else { return fail(address, error) }
    rounds.append({ [weak self] in self?.fail(address, error) }, of: address.caller, size: 0)
  }

  /// Whether no call waits, and no client is suspended.
  package var isNobodyWaiting: Bool { rounds.isEmpty }

  /// Has the later calls of a client wait until ``resume(_:)`` was called as often as this.
  public func suspend(_ client: BusName) { rounds.suspend(client) }

  public func resume(_ client: BusName) {
    rounds.resume(client)
    scheduleDrain()
  }

  private func serve(_ call: Message, _ member: UnsafePointer<CChar>, at path: ObjectPath, _ address: ReplyAddress) {
    let name = dbus_message_get_interface(call.raw)
    // A fast path for the most frequent case.
    if let name,
      let interface = objects.tree.object(at: path)?.interfaces.first(where: { $0.interface.name.equals(name) }),
      let method = interface.method(String(cString: member))
    {
      return method.serve(call, address, path, self)
    }
    do throws(DBusError) {
      try find(String(cString: member), of: name.map { String(cString: $0) }, at: path).serve(call, address, path, self)
    } catch {
      failInOrder(address, error)
    }
  }

  private func find(
    _ member: String, of name: String?, at path: ObjectPath
  ) throws(DBusError) -> ImplementedInterface.MethodHandler {
    // "On any path" (D-Bus Specification, *org.freedesktop.DBus.Peer*).
    let peer = standardInterfaces.peer
    let found = interfaces(at: path)
    guard var interfaces = found ?? (name == Peer.name.text ? [peer] : nil) else { throw .unknownObject(path) }
    if let name {
      interfaces = interfaces.filter { $0.interface.name.text == name }
      if interfaces.isEmpty { throw .unknownInterface(name, at: path) }
    }
    for interface in interfaces {
      if let method = interface.method(member) { return method }
    }
    let of = name.map { " of \($0)" } ?? ""
    throw DBusError(name: .unknownMethod, message: "there is no method \(member)\(of) at \(shortened(path.text))")
  }
}

extension InterfaceName {
  fileprivate func equals(_ other: UnsafePointer<CChar>) -> Bool { text.withCString { strcmp($0, other) == 0 } }
}

/// A client's text, shortened for an error. Both the text and each of its characters may have any length.
func shortened(_ text: String) -> String {
  text.utf8.count <= 255 ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(255))) + "…"
}

extension DBusError {
  static func unknownObject(_ path: ObjectPath) -> DBusError {
    DBusError(name: .unknownObject, message: "there is no object at \(shortened(path.text))")
  }

  static func unknownInterface(_ name: String, at path: ObjectPath) -> DBusError {
    DBusError(
      name: .unknownInterface, message: "there is no interface “\(shortened(name))” at \(shortened(path.text))")
  }
}
