import CDBus
import DBusValues

/// `org.freedesktop.DBus.Peer`
public enum Peer {
  static let name: InterfaceName = "org.freedesktop.DBus.Peer"
  public static let ping = Method(name, "Ping")
  public static let getMachineID = Method(name, "GetMachineId", out: Arg<String>("machine_uuid"))
  static let interface = Interface(name, members: [ping, getMachineID])
}

/// `org.freedesktop.DBus.Introspectable`
public enum Introspection {
  static let name: InterfaceName = "org.freedesktop.DBus.Introspectable"
  public static let introspect = Method(name, "Introspect", out: Arg<String>("xml_data"), isReading: true)
  static let interface = Interface(name, members: [introspect])
}

/// `org.freedesktop.DBus.Properties`
public enum PropertyAccessing {
  static let name: InterfaceName = "org.freedesktop.DBus.Properties"
  public static let get = Method(
    name, "Get", in: Arg<String>("interface_name"), Arg<String>("property_name"), out: Arg<Value>("value"),
    isReading: true)
  public static let set = Method(
    name, "Set", in: Arg<String>("interface_name"), Arg<String>("property_name"), Arg<Value>("value"))
  public static let getAll = Method(
    name, "GetAll", in: Arg<String>("interface_name"), out: Arg<Properties>("properties"), isReading: true)
  public static let propertiesChanged = Signal(
    name, "PropertiesChanged", Arg<String>("interface_name"), Arg<Properties>("changed_properties"),
    Arg<[String]>("invalidated_properties"))
  static let interface = Interface(name, members: [get, set, getAll, propertiesChanged])
}

/// `org.freedesktop.DBus.ObjectManager`
public enum ObjectManagement {
  static let name: InterfaceName = "org.freedesktop.DBus.ObjectManager"
  public static let getManagedObjects = Method(
    name, "GetManagedObjects", out: Arg<[ObjectPath: [String: Properties]]>("objects"), isReading: true)
  public static let interfacesAdded = Signal(
    name, "InterfacesAdded", Arg<ObjectPath>("object"), Arg<[String: Properties]>("interfaces"))
  public static let interfacesRemoved = Signal(
    name, "InterfacesRemoved", Arg<ObjectPath>("object"), Arg<[String]>("interfaces"))
  static let interface = Interface(name, members: [getManagedObjects, interfacesAdded, interfacesRemoved])
}

/// The implementations of the standard interfaces for all objects of a connection.
struct StandardInterfaces {
  let peer = ImplementedInterface(Peer.interface)
  let introspection = ImplementedInterface(Introspection.interface)
  let properties = ImplementedInterface(PropertyAccessing.interface)
  let manager = ImplementedInterface(ObjectManagement.interface)

  init(_ connection: Connection) {
    implementPeer()
    implementIntrospection(connection)
    implementProperties(connection)
    manager.implement(ObjectManagement.getManagedObjects) { [unowned connection] _, call in
      let objects = connection.objects.tree
      call.reply(writing: { [path = call.path] writer throws(DBusError) in
        try writer.array(alignment: 8) { writer throws(DBusError) in
          for path in objects.provided(below: path) + objects.exported(below: path) {
            try writer.structure { writer throws(DBusError) in try writer.object(path, objects.interfaces(at: path)) }
          }
        }
      })
    }
  }

  private func implementPeer() {
    peer.implement(Peer.ping) { _, call in call.reply() }
    peer.implement(Peer.getMachineID) { _, call in
      guard let id = dbus_try_get_local_machine_id(nil) else {
        return call.fail(DBusError(name: .failed, message: "this machine has no machine ID"))
      }
      defer { dbus_free(id) }
      call.reply(String(cString: id))
    }
  }

  private func implementIntrospection(_ connection: Connection) {
    introspection.implement(Introspection.introspect) { [unowned connection] _, call in
      var xml = IntrospectionXML(docs: .annotations)
      xml.document { xml in
        for interface in connection.interfaces(at: call.path) ?? [] { xml.append(interface.xml) }
        for child in connection.objects.tree.children(of: call.path) { xml.child(child) }
      }
      call.reply(xml.text)
    }
  }

  private func implementProperties(_ connection: Connection) {
    properties.implement(PropertyAccessing.get) { [unowned connection] input, call in
      call.reply { () throws(DBusError) in
        let property = try connection.property(input.1, of: input.0, at: call.path)
        guard let value = property.get(call.path) else { throw .unknownObject(call.path) }
        return value
      }
    }
    properties.implement(PropertyAccessing.set) { [unowned connection] input, call in
      call.reply { () throws(DBusError) in
        let property = try connection.property(input.1, of: input.0, at: call.path)
        guard let set = property.set else {
          throw DBusError(name: .propertyReadOnly, message: "property “\(property.name)” is read-only")
        }
        try set(input.2, call.path)
      }
    }
    properties.implement(PropertyAccessing.getAll) { [unowned connection] name, call in
      call.reply { () throws(DBusError) in
        var values: Properties = [:]
        for interface in try connection.propertyInterfaces(name, at: call.path) {
          interface.forEachValue(of: call.path) { header, value in
            if values[header.name] == nil { values[header.name] = value }
          }
        }
        return values
      }
    }
  }
}

extension Connection {
  /// - Parameter name: the name of the interface; empty for all interfaces, as the specification allows.
  fileprivate func propertyInterfaces(
    _ name: String, at path: ObjectPath
  ) throws(DBusError) -> [ImplementedInterface] {
    guard let interfaces = interfaces(at: path) else { throw .unknownObject(path) }
    if name.isEmpty { return interfaces }
    guard let interface = interfaces.first(where: { $0.interface.name.text == name }) else {
      throw .unknownInterface(name, at: path)
    }
    return [interface]
  }

  fileprivate func property(
    _ name: String, of interface: String, at path: ObjectPath
  ) throws(DBusError) -> ImplementedInterface.PropertyHandler {
    for interface in try propertyInterfaces(interface, at: path) {
      if let property = interface.properties.first(where: { $0.name == name }) { return property }
    }
    throw DBusError(
      name: .unknownProperty, message: "there is no property “\(shortened(name))” at \(shortened(path.text))")
  }
}
