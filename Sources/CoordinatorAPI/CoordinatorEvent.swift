// Why this file exists: every difference between two states is one signal with a serial; here it becomes one value, and
// that one line of JSON.

import DBus
import DBusValues
import TextFormats

/// A signal of `org.navd.Coordinator1` that says how the state changed.
public struct CoordinatorEvent: Hashable, Sendable {
  /// The presentation that something happened to.
  public struct Subject: Hashable, Sendable {
    public let binding: String
    public let id: String
    public let presentation: ObjectPath

    public init(binding: String, id: String, presentation: ObjectPath) {
      self.binding = binding
      self.id = id
      self.presentation = presentation
    }
  }

  /// One screen of a path.
  public struct PathElement: Hashable, Sendable {
    public let binding: String
    public let id: String

    public init(binding: String, id: String) {
      self.binding = binding
      self.id = id
    }
  }

  public enum Kind: Hashable, Sendable {
    case presented(Subject, item: Properties)
    case updated(Subject, item: Properties)
    case phase(Subject, String)
    case dismissed(Subject, reason: String)
    case action(Subject, String, parameters: Properties)
    /// nil: nothing is selected.
    case selection(group: String, tag: String?)
    case group(String, tags: [String], queue: [String])
    case path(stack: String, [PathElement])
  }

  /// Of the state after it.
  public let serial: UInt64
  public let kind: Kind

  public init(_ kind: Kind, serial: UInt64) {
    self.serial = serial
    self.kind = kind
  }

  /// - Returns: nil for every other message, and for signals that are no difference between two states.
  /// - Throws: where the arguments are not those of the contract.
  public init?(_ message: Message) throws(DBusError) {
    typealias Rows = CoordinatorInterface
    guard message.kind == .signal, message.interface == Rows.name, let member = message.member else { return nil }
    func subject(_ binding: String, _ id: String, _ presentation: ObjectPath) -> Subject {
      Subject(binding: binding, id: id, presentation: presentation)
    }
    switch member {
    case Rows.presented.name:
      let (binding, id, presentation, serial, item) = try Rows.presented.arguments(of: message)
      self.init(.presented(subject(binding, id, presentation), item: item), serial: serial)
    case Rows.updated.name:
      let (binding, id, presentation, serial, item) = try Rows.updated.arguments(of: message)
      self.init(.updated(subject(binding, id, presentation), item: item), serial: serial)
    case Rows.phaseChanged.name:
      let (binding, id, presentation, serial, phase) = try Rows.phaseChanged.arguments(of: message)
      self.init(.phase(subject(binding, id, presentation), phase), serial: serial)
    case Rows.dismissed.name:
      let (binding, id, presentation, serial, reason) = try Rows.dismissed.arguments(of: message)
      self.init(.dismissed(subject(binding, id, presentation), reason: reason), serial: serial)
    case Rows.action.name:
      let (binding, id, presentation, serial, action, parameters) = try Rows.action.arguments(of: message)
      self.init(.action(subject(binding, id, presentation), action, parameters: parameters), serial: serial)
    case Rows.selectionChanged.name:
      let (group, tag, serial) = try Rows.selectionChanged.arguments(of: message)
      // No tag is empty, so the empty one is the absent one.
      self.init(.selection(group: group, tag: tag.isEmpty ? nil : tag), serial: serial)
    case Rows.pathChanged.name:
      let (stack, path, serial) = try Rows.pathChanged.arguments(of: message)
      let elements = path.map { PathElement(binding: $0.fields.0, id: $0.fields.1) }
      self.init(.path(stack: stack, elements), serial: serial)
    case Rows.groupChanged.name:
      let (group, tags, queue, serial) = try Rows.groupChanged.arguments(of: message)
      self.init(.group(group, tags: tags, queue: queue), serial: serial)
    default: return nil
    }
  }

  /// With the members `serial` and `event`, and what the signal says; absent where there is none.
  public var json: JSON {
    var members: [String: JSON] = ["serial": JSON(serial)]
    func tell(_ event: String) { members["event"] = .string(event) }
    func tell(_ event: String, _ subject: Subject) {
      tell(event)
      members["binding"] = .string(subject.binding)
      members["id"] = .string(subject.id)
      members["presentation"] = CoordinatorNames.number(of: subject.presentation).map { JSON($0) }
    }
    switch kind {
    case .presented(let subject, let item):
      tell("presented", subject)
      members["item"] = JSON(item)
    case .updated(let subject, let item):
      tell("updated", subject)
      members["item"] = JSON(item)
    case .phase(let subject, let phase):
      tell("phase", subject)
      members["phase"] = .string(phase)
    case .dismissed(let subject, let reason):
      tell("dismissed", subject)
      members["reason"] = .string(reason)
    case .action(let subject, let action, let parameters):
      tell("action", subject)
      members["action"] = .string(action)
      members["parameters"] = JSON(parameters)
    case .selection(let group, let tag):
      tell("selection")
      members["group"] = .string(group)
      members["tag"] = tag.map(JSON.string)
    case .group(let group, let tags, let queue):
      tell("group")
      members["group"] = .string(group)
      members["tags"] = .array(tags.map(JSON.string))
      members["queue"] = .array(queue.map(JSON.string))
    case .path(let stack, let path):
      tell("path")
      members["stack"] = .string(stack)
      members["path"] = .array(path.map { ["binding": .string($0.binding), "id": .string($0.id)] })
    }
    return .object(members)
  }
}
