import DBusValues
import PresentationModel
import PresentationRules

/// An input of the coordinator other than a client's call.
enum Incoming {
  case report(Report)
  /// The data with which the next navd finds a presentation again.
  case memory(Properties, of: Handle)
  /// A fact of the session has become true or false (H2).
  case fact(SessionFact, isTrue: Bool)
  /// The time of the alarm has come.
  case alarm
  /// The wall clock may make other destinations the fallbacks of groups (K7), or was set.
  case clock
  /// Configuration files have changed.
  case files(isSettled: Bool)
  /// A client that owns something has left the bus (O1).
  case clientLeft(Client)
}

/// Handles inputs of the coordinator.
protocol IncomingHandler: AnyObject {
  func handle(_ incoming: Incoming)
}

/// The only way of inputs other than clients' calls to the coordinator. Inputs wait here while navd searches
/// for the presentations of the previous navd (R2).
final class Inbox: ReportReceiver {
  private enum State {
    case waiting([Incoming])
    case open(any IncomingHandler)
  }

  private var state = State.waiting([])

  func take(_ incoming: Incoming) {
    switch state {
    case .waiting(var early):
      // The state gives its list away first: the list would be copied each time.
      state = .waiting([])
      early.append(incoming)
      state = .waiting(early)
    case .open(let handler): handler.handle(incoming)
    }
  }

  func take(_ report: Report) { take(.report(report)) }

  func remember(_ memory: Properties, of handle: Handle) { take(.memory(memory, of: handle)) }

  /// Hands over all later inputs.
  /// - Returns: the inputs that have waited.
  func open(to handler: any IncomingHandler) -> [Incoming] {
    guard case .waiting(let early) = state else { return [] }
    state = .open(handler)
    return early
  }
}
