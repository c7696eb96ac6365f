// Why this file exists: every difference between two states is one signal with a serial; here it becomes one JSON value.
import DBus
import DBusValues

/// A signal of `org.navd.Coordinator1` that says how the state changed.
public struct CoordinatorEvent: Hashable, Sendable {
  /// Of the state after it.
  public let serial: UInt64
  /// With the members `serial` and `event`, and what the signal says.
  public let json: JSON

  /// - Returns: nil for every other message, and for signals that are no difference between two states.
  /// - Throws: where the arguments are not those of the contract.
  public init?(_ message: Message) throws(DBusError) {
    typealias Rows = CoordinatorInterface
    guard message.kind == .signal, message.interface == Rows.name, let member = message.member else { return nil }
    switch member {
    case Rows.presented.name:
      let (binding, id, presentation, serial, item) = try Rows.presented.arguments(of: message)
      self.init("presented", binding, id, presentation, serial, ["item": JSON(item)])
    case Rows.updated.name:
      let (binding, id, presentation, serial, item) = try Rows.updated.arguments(of: message)
      self.init("updated", binding, id, presentation, serial, ["item": JSON(item)])
    case Rows.phaseChanged.name:
      let (binding, id, presentation, serial, phase) = try Rows.phaseChanged.arguments(of: message)
      self.init("phase", binding, id, presentation, serial, ["phase": .string(phase)])
    case Rows.dismissed.name:
      let (binding, id, presentation, serial, reason) = try Rows.dismissed.arguments(of: message)
      self.init("dismissed", binding, id, presentation, serial, ["reason": .string(reason)])
    case Rows.action.name:
      let (binding, id, presentation, serial, action, parameters) = try Rows.action.arguments(of: message)
      self.init(
        "action", binding, id, presentation, serial, ["action": .string(action), "parameters": JSON(parameters)])
    case Rows.selectionChanged.name:
      let (group, tag, serial) = try Rows.selectionChanged.arguments(of: message)
      // No tag is empty, so the empty one is the absent one.
      self.init("selection", serial, ["group": .string(group), "tag": tag.isEmpty ? .null : .string(tag)])
    case Rows.pathChanged.name:
      let (stack, path, serial) = try Rows.pathChanged.arguments(of: message)
      self.init(
        "path", serial,
        [
          "stack": .string(stack),
          "path": .array(path.map { ["binding": .string($0.fields.0), "id": .string($0.fields.1)] }),
        ])
    case Rows.groupChanged.name:
      let (group, tags, queue, serial) = try Rows.groupChanged.arguments(of: message)
      self.init(
        "group", serial,
        ["group": .string(group), "tags": .array(tags.map(JSON.string)), "queue": .array(queue.map(JSON.string))])
    default: return nil
    }
  }

  init(
    _ event: String, _ binding: String, _ id: String, _ presentation: ObjectPath, _ serial: UInt64,
    _ more: [String: JSON]
  ) {
    var members = more
    members["binding"] = .string(binding)
    members["id"] = .string(id)
    members["presentation"] = CoordinatorNames.number(of: presentation).map { JSON($0) }
    self.init(event, serial, members)
  }

  init(_ event: String, _ serial: UInt64, _ more: [String: JSON]) {
    var members = more
    // “A value absent where there is none.”
    for (name, value) in more where value == .null { members[name] = nil }
    members["event"] = .string(event)
    members["serial"] = JSON(serial)
    self.serial = serial
    json = .object(members)
  }
}
