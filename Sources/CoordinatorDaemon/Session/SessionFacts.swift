import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel

/// The facts of the session: each is true while one of its sources says so, and a missing source
/// says nothing (H2).
///
/// The first change of a turn is announced at once, and the others at its end, so a source that changes its mind without end
/// keeps nobody waiting (L2).
final class SessionFacts {
  enum Source: Hashable {
    case logind
    /// A request to lock counts until the locker reports that it has locked.
    case lockRequest
    case screenSaver(BusName)
    case windows
    /// The record counts until all sources of the fact have answered (H5).
    case record
  }

  private(set) lazy var logind = LogindFacts(self, on: loop, log: log)
  private lazy var screenSavers = ScreenSaverFacts(self, on: session)

  private let session: Connection
  /// Gets the changed facts after the completion of ``whenKnown(recorded:_:)``.
  private let inbox: Inbox
  private let log: Logger
  private var truths: [SessionFact: Set<Source>] = [:]
  /// The sources that have not answered yet, with the facts that they may report.
  private var open: [Source: Set<SessionFact>] = [:]
  /// The true facts, as they were announced last; nil before the completion of ``whenKnown(recorded:_:)``.
  private var told: Set<SessionFact>?
  /// Whether a source has reported since the last announcement.
  private var mayDiffer = false
  /// Whether a change was announced in this turn.
  private var hasTold = false
  /// Called when all sources have answered, or the time limit is over; nil before ``whenKnown(recorded:_:)``, and after the call.
  private var completion: (() -> Void)?
  private var limit: Timer?

  /// The time that sources have before navd serves without them (H5).
  private static let timeLimit = Duration.seconds(1)

  private var loop: EventLoop { session.loop }

  init(_ session: Connection, _ inbox: Inbox, log: Logger) {
    self.session = session
    self.inbox = inbox
    self.log = log
  }

  /// Asks all sources.
  func begin() {
    screenSavers.begin()
    logind.begin()
  }

  /// - Parameters:
  ///   - recorded: the facts that the record says are true.
  ///   - completion: called once, with all facts; after a second at most.
  func whenKnown(recorded: Set<SessionFact>, _ completion: @escaping ([SessionFact: Bool]) -> Void) {
    self.completion = { [unowned self] in
      let unknown = open.values.reduce(into: Set()) { $0.formUnion($1) }
      for fact in recorded.intersection(unknown) { truths[fact, default: []].insert(.record) }
      let facts = trueFacts
      told = facts
      completion(Dictionary(uniqueKeysWithValues: SessionFact.allCases.map { ($0, facts.contains($0)) }))
    }
    if open.isEmpty { return complete() }
    limit = loop.timer(after: Self.timeLimit) { [unowned self] in complete() }
  }

  private func complete() {
    limit?.cancel()
    completion.take()?()
  }

  private var trueFacts: Set<SessionFact> { Set(truths.filter { !$0.value.isEmpty }.keys) }

  // MARK: Sources

  /// Adds a source that is asked. A call after ``whenKnown(recorded:_:)`` has no effect.
  func expect(_ facts: Set<SessionFact>, from source: Source) { if told == nil { open[source] = facts } }

  func set(_ fact: SessionFact, _ isTrue: Bool, by source: Source) {
    if isTrue { truths[fact, default: []].insert(source) } else { truths[fact]?.remove(source) }
    changed()
  }

  /// Notes that a source has reported all that it knows.
  func answered(_ source: Source) {
    guard let facts = open.removeValue(forKey: source) else { return }
    if open.isEmpty { complete() }
    for fact in facts where !open.values.contains(where: { $0.contains(fact) }) { truths[fact]?.remove(.record) }
    changed()
  }

  private func changed() {
    mayDiffer = true
    guard !hasTold, tell() else { return }
    hasTold = true
    loop.soon { [weak self] in
      self?.hasTold = false
      self?.tell()
    }
  }

  /// Announces the changes since the last call, so that a request sees every change before it.
  /// Costs a request nothing if there is no change.
  /// - Returns: whether there were any.
  @discardableResult
  func tell() -> Bool {
    guard mayDiffer, let before = told else { return false }
    mayDiffer = false
    let now = trueFacts
    told = now
    for fact in SessionFact.allCases where before.contains(fact) != now.contains(fact) {
      inbox.take(.fact(fact, isTrue: now.contains(fact)))
    }
    return now != before
  }
}
