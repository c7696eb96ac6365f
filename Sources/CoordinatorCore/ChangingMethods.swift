// Why this file exists: a method of the contract that changes the state is one request of the rules and one reply. Whoever
// serves the contract, on a bus or inside a program, binds the same rows.

import CoordinatorAPI
import DBus
import DBusValues
import PresentationRules

/// Binds one changing method after the other.
package protocol ChangingMethodVisitor {
  /// - Parameters:
  ///   - read: makes a request of the method's arguments.
  ///   - answer: makes the method's answer of the reply to that request.
  func visit<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    answer: @escaping @Sendable (_ reply: Reply, _ serial: UInt64) -> Output)
}

/// The changing methods of the contract but `Apply`, which is made of them.
package enum ChangingMethods {
  @usableFromInline typealias Rows = CoordinatorInterface

  /// Inlined where it is called, where the type of the visitor is known: a method's types are then known to what it binds.
  @inlinable
  package static func forEach(_ visitor: some ChangingMethodVisitor) {
    visitor.visit(Rows.present, { i throws(Refusal) in try .present(i.0, i.1, i.2) }, answer: presentation)
    visitor.visit(Rows.select, { i throws(Refusal) in try .select(i.0, i.1, i.2) }, answer: presentation)
    visitor.visit(Rows.push, { i throws(Refusal) in try .push(i.0, i.1, i.2, i.3) }, answer: presentation)
    visitor.visit(Rows.update, { i throws(Refusal) in try .update(i.0, i.1, i.2) }, answer: changed)
    visitor.visit(Rows.dismiss, { i throws(Refusal) in try .dismiss(i.0, i.1) }, answer: changed)
    visitor.visit(Rows.deselect, { i throws(Refusal) in try .deselect(i.0, i.1, i.2) }, answer: changed)
    visitor.visit(Rows.dismissAll, { i throws(Refusal) in try .dismissAll(i) }, answer: count)
    visitor.visit(Rows.pop, { i throws(Refusal) in try .pop(i.0, i.1, i.2) }, answer: count)
    visitor.visit(Rows.popTo, { i throws(Refusal) in try .popTo(i.0, i.1, i.2) }, answer: count)
    visitor.visit(Rows.toggle, { i throws(Refusal) in try .toggle(i.0, i.1, i.2) }) { reply, serial in
      guard case .toggled(let presented, let handle) = reply else { mismatched(reply) }
      return (presented, handle?.path ?? .root, serial)
    }
    visitor.visit(Rows.toggleSelection, { i throws(Refusal) in try .toggleSelection(i.0, i.1, i.2) }) {
      reply, serial in
      guard case .selected(let selected) = reply else { mismatched(reply) }
      return (selected, serial)
    }
    visitor.visit(
      Rows.setPath,
      { i throws(Refusal) in try .setPath(i.0, i.1.map { ($0.fields.0, $0.fields.1, $0.fields.2) }, i.2) }
    ) { reply, serial in
      guard case .path(let handles) = reply else { mismatched(reply) }
      return (handles.map { $0?.path ?? .root }, serial)
    }
  }

  @Sendable @usableFromInline static func presentation(_ reply: Reply, _ serial: UInt64) -> (ObjectPath, Bool, UInt64) {
    guard case .presentation(let handle, let changed) = reply else { mismatched(reply) }
    return (handle?.path ?? .root, changed, serial)
  }

  @Sendable @usableFromInline static func changed(_ reply: Reply, _ serial: UInt64) -> (Bool, UInt64) {
    guard case .changed(let changed) = reply else { mismatched(reply) }
    return (changed, serial)
  }

  @Sendable @usableFromInline static func count(_ reply: Reply, _ serial: UInt64) -> (UInt32, UInt64) {
    guard case .count(let count) = reply else { mismatched(reply) }
    return (UInt32(clamping: count), serial)
  }

  /// The rules answer each request with the reply that is its own.
  @usableFromInline static func mismatched(_ reply: Reply) -> Never {
    preconditionFailure("\(reply) is the reply to another request")
  }
}
