import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing

/// A presenter on the bus for the destination `screen` that also watches navd's signals, for tests of their order.
///
/// A connection receives messages in the order in which navd sent them, so the order of the log is navd's:
///
///     path main a b=1            an event (see `StateEvent.line`)
///     present a 1                a call of Present, an empty id is left out
///     shown a 1                  its answer
///     dismiss a 1 replaced       a call of Dismiss with the reason
///     gone a 1                   its answer
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

  /// Options that present an item on this screen.
  static func options(_ more: Properties = [:]) -> Properties {
    more.merging(["destination": .string(destination)]) { given, _ in given }
  }

  /// The lines of the watcher's log that are compared. Signals that are not events begin with a capital letter.
  private var log: [String] {
    watcher.log.filter { $0.first?.isLowercase == true && !$0.hasPrefix("reply ") }
  }

  /// Waits until no message is outstanding, and returns the lines logged since the last time.
  /// - Parameter count: the number of lines to wait for first.
  func happened(_ count: Int = 0) throws -> [String] {
    _ = session.loop.turn(until: { log.count - taken >= count }, within: Session.limit)
    // navd has processed the answers of this screen when it answers this call. Their consequences come before its answer, or before
    // the next call's.
    var known = -1
    while known != log.count {
      known = log.count
      try session.call(CoordinatorInterface.getState, (), by: connection)
      try session.call(CoordinatorInterface.getState, (), by: connection)
    }
    defer { taken = log.count }
    return Array(log[taken...])
  }

  /// Expects exactly these lines, in this order, since the last time.
  func expect(_ lines: [String], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let happened = try happened(lines.count)
    #expect(happened == lines, sourceLocation: sourceLocation)
    #expect(watcher.hasAllSerials, sourceLocation: sourceLocation)
  }

  // MARK: The presenter

  /// Sends answers that were held back, in this order.
  func answer(_ calls: String..., sourceLocation: SourceLocation = #_sourceLocation) {
    for call in calls {
      #expect(presenter.answer(call), "there is no unanswered call “\(call)”", sourceLocation: sourceLocation)
    }
  }

  /// Reports that the user has closed a presentation.
  /// - Returns: the call to navd.
  func close(_ presentation: ObjectPath) -> Session.Pending<(Bool, UInt64)> {
    session.begin(CoordinatorInterface.closed, (presentation, [:]), by: connection)
  }

  // MARK: Shorthands

  /// Presents an item here and waits until it is shown. Discards the lines logged until then.
  @discardableResult
  func show(_ binding: String, _ id: String = "", _ more: Properties = [:]) throws -> ObjectPath {
    let presentation = try session.present(binding, id, Self.options(more))
    try session.call(CoordinatorInterface.wait, (presentation, "presented"))
    _ = try happened()
    return presentation
  }

  /// The handle of the slot's presentation; `/` if the slot is empty.
  func presentation(_ binding: String) throws -> ObjectPath {
    try session.call(CoordinatorInterface.get, binding).0
  }

  /// The bindings and ids of all items, in the order of acceptance.
  func shown() throws -> [String] {
    try session.call(CoordinatorInterface.members, ("all", "")).map { member in
      member.fields.1.isEmpty ? member.fields.0 : "\(member.fields.0) \(member.fields.1)"
    }
  }
}
