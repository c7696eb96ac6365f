import DBusValues
import PresentationModel
import PresentationRules

/// What comes in besides the calls of clients.
enum Incoming {
  case report(Report)
  /// The data with which the next navd finds a presentation again.
  case memory(Properties, of: Handle)
  /// A fact of the session has become true or false (H2).
  case fact(SessionFact, isTrue: Bool)
  /// The time of the alarm has come.
  case alarm
  /// Configuration files have changed.
  case files(isSettled: Bool)
  /// A client that owns something has left the bus (O1).
  case clientLeft(Client)
}

/// Handles what comes in.
protocol IncomingHandler: AnyObject {
  func handle(_ incoming: Incoming)
}

/// The way of all that comes in besides the calls of clients. While navd searches for the presentations of
/// the previous navd, it waits here (R2).
final class Inbox: ReportReceiver {
  private enum State {
    case waiting([Incoming])
    case open(any IncomingHandler)
  }

  private var state = State.waiting([])

  func take(_ incoming: Incoming) {
    switch state {
    case .waiting(let others): state = .waiting(others + [incoming])
    case .open(let handler): handler.handle(incoming)
    }
  }

  func take(_ report: Report) { take(.report(report)) }

  func remember(_ memory: Properties, of handle: Handle) { take(.memory(memory, of: handle)) }

  /// Hands over what comes in from now on.
  /// - Returns: what has come before.
  func open(to handler: any IncomingHandler) -> [Incoming] {
    guard case .waiting(let early) = state else { return [] }
    state = .open(handler)
    return early
  }
}
