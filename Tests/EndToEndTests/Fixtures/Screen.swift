// Why this file exists: order is part of what is promised, so there is one log of what a presenter was told, what it
// answered, and what everybody was told.

import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing

/// A program on the bus that shows the items of the destination `screen`, and watches.
///
/// What navd sends to one connection arrives in the order in which it was sent, so the order of the log is navd's:
///
///     path main a b=1            an event (see `StateEvent.line`)
///     present a 1                the screen is told to, an empty id is left out
///     shown a 1                  it answers that it has
///     dismiss a 1 replaced       it is told to, and why
///     gone a 1                   it answers that it has
final class Screen {
  static let destination = "screen"

  let session: Session
  let presenter: BusPresenter
  let watcher: Watcher
  var connection: Connection { presenter.connection }
  private var taken = 0

  init(_ session: Session, _ options: Properties = [:]) throws {
    self.session = session
    presenter = try BusPresenter(session, destination: Self.destination, options)
    watcher = try session.watch(on: presenter.connection)
    presenter.hear = { [unowned watcher] in watcher.note($0) }
  }

  /// The options of an item that is to be shown here.
  static func options(_ more: Properties = [:]) -> Properties {
    more.merging(["destination": .string(destination)]) { given, _ in given }
  }

  /// What of the watcher's log is ours: other signals than events begin with a capital letter.
  private var log: [String] {
    watcher.log.filter { $0.first?.isLowercase == true && !$0.hasPrefix("reply ") }
  }

  /// Waits until nothing is on its way any more, and gives back what has been logged since the last time.
  /// - Parameter count: how much has to come.
  func happened(_ count: Int = 0) throws -> [String] {
    _ = session.loop.turn(until: { log.count - taken >= count }, within: Session.limit)
    // Our answers come before this question, and what came of them before its answer, or before the next one's.
    var known = -1
    while known != log.count {
      known = log.count
      try session.call(CoordinatorInterface.getState, (), by: connection)
      try session.call(CoordinatorInterface.getState, (), by: connection)
    }
    defer { taken = log.count }
    return Array(log[taken...])
  }

  /// Expects exactly this, in this order, since the last time.
  func expect(_ lines: [String], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let happened = try happened(lines.count)
    #expect(happened == lines, sourceLocation: sourceLocation)
    #expect(watcher.hasAllSerials, sourceLocation: sourceLocation)
  }

  // MARK: The presenter

  /// Answers the calls that are held back, in the order in which they were made, as often as it is told.
  func answer(_ calls: String..., sourceLocation: SourceLocation = #_sourceLocation) {
    for call in calls {
      #expect(presenter.answer(call), "it was told to “\(call)” and has not answered", sourceLocation: sourceLocation)
    }
  }

  /// Its user closes what it shows.
  /// - Returns: the call that tells navd.
  func close(_ presentation: ObjectPath) -> Session.Pending<(Bool, UInt64)> {
    session.begin(CoordinatorInterface.closed, (presentation, [:]), by: connection)
  }

  // MARK: The frequent ones

  /// Presents something here, and waits until it is shown; nothing of that is left to be expected.
  @discardableResult
  func show(_ binding: String, _ id: String = "", _ more: Properties = [:]) throws -> ObjectPath {
    let presentation = try session.present(binding, id, Self.options(more))
    try session.call(CoordinatorInterface.wait, (presentation, "presented"))
    _ = try happened()
    return presentation
  }

  /// What the slot of a binding should show; `/` where that is nothing.
  func presentation(_ binding: String) throws -> ObjectPath {
    try session.call(CoordinatorInterface.get, binding).0
  }

  /// The bindings that hold items, with their ids, in the order of acceptance.
  func shown() throws -> [String] {
    try session.call(CoordinatorInterface.members, ("all", "")).map { member in
      member.fields.1.isEmpty ? member.fields.0 : "\(member.fields.0) \(member.fields.1)"
    }
  }
}
