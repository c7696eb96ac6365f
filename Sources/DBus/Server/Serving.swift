// Why this file exists: a call finds its method by path, interface and member, or is told which of them is not there.

import CDBus
import DBusValues
import Glibc

extension Connection {
  // MARK: Exporting

  /// Has objects at a path implement interfaces, next to those that every object has (Peer, Introspectable, Properties).
  /// - Parameter isObjectManager: whether it also is the ObjectManager of what is below it.
  public func export(_ path: ObjectPath, _ interfaces: [ImplementedInterface], isObjectManager: Bool = false) {
    objects.export(path, ObjectTree.Object(interfaces: interfaces, isManager: isObjectManager))
  }

  /// There is no object at the path any more.
  public func unexport(_ path: ObjectPath) { objects.unexport(path) }

  /// Has a provider say which objects there are below a path. It costs nothing for each of them.
  public func exportSubtree(_ prefix: ObjectPath, _ provider: any ObjectProvider) {
    objects.exportSubtree(prefix, provider)
  }

  // MARK: Finding

  /// All interfaces at a path, also where it only leads to objects; nil where there is nothing.
  func interfaces(at path: ObjectPath) -> [ImplementedInterface]? {
    let standard = standardInterfaces
    if let object = objects.object(at: path) {
      let manager = object.isManager ? [standard.manager] : []
      return object.interfaces + [standard.properties, standard.introspection, standard.peer] + manager
    }
    return objects.leadsSomewhere(path) ? [standard.introspection, standard.peer] : nil
  }

  func serve(_ call: Message) {
    guard let address = ReplyAddress(call), let path = call.path, let member = dbus_message_get_member(call.raw) else {
      return
    }
    let name = dbus_message_get_interface(call.raw)
    // The most frequent case, without making a list of everything first.
    if let name,
      let interface = objects.object(at: path)?.interfaces.first(where: { $0.interface.name.isSpelled(name) }),
      let method = interface.methods[String(cString: member)]
    {
      return method(call, address, path, self)
    }
    do throws(DBusError) {
      try find(String(cString: member), of: name.map { String(cString: $0) }, at: path)(call, address, path, self)
    } catch {
      fail(address, error)
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
      if let method = interface.methods[member] { return method }
    }
    let of = name.map { " of \($0)" } ?? ""
    throw DBusError(name: .unknownMethod, message: "there is no method \(member)\(of) at \(shortened(path.text))")
  }
}

extension InterfaceName {
  fileprivate func isSpelled(_ other: UnsafePointer<CChar>) -> Bool { text.withCString { strcmp($0, other) == 0 } }
}

/// What a client sent, as far as it helps in an error: it may be of any length, and so may each of its characters.
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
