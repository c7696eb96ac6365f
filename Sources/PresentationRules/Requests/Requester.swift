import PresentationModel

/// The client whose request ended a presentation. It is stored with the ending, since the client usually leaves the bus long before the
/// history is read.
public struct Requester: Hashable, Sendable {
  public var client: Client
  /// The id of the client's process; nil if it is unknown.
  public var process: UInt32?
  /// The name of the client's program, from the process table.
  public var program: String?

  public init(_ client: Client, process: UInt32? = nil, program: String? = nil) {
    (self.client, self.process, self.program) = (client, process, program)
  }
}

/// The clients that ended presentations, and their processes.
struct Requesters: Sendable {
  /// Maximum number of known clients. A client that was dropped is identified again when it next ends something.
  private static let maxKnown = 512

  private var known: [Client: Requester] = [:]
  /// Presentations whose ends wait for the identification of a client.
  private var waiting: [Client: [Handle]] = [:]

  /// - Parameter handle: a presentation that the client's request ends.
  /// - Returns: the known data of the client, and whether it has to be identified.
  mutating func requester(_ client: Client, ending handle: Handle) -> (Requester, isNew: Bool) {
    if let requester = known[client] { return (requester, false) }
    let isNew = waiting[client] == nil
    waiting[client, default: []].append(handle)
    return (Requester(client), isNew)
  }

  /// Stores an identified client.
  /// - Returns: the presentations that waited for the client.
  mutating func learn(_ requester: Requester) -> [Handle] {
    if known.count >= Self.maxKnown { known.removeAll(keepingCapacity: true) }
    known[requester.client] = requester
    return waiting.removeValue(forKey: requester.client) ?? []
  }

  /// Drops a client that left the bus, and the presentations that wait for it.
  mutating func forget(_ client: Client) {
    known[client] = nil
    waiting[client] = nil
  }
}

extension StateMachine {
  /// Completes the endings of a client from `Outcome.requesters`.
  public mutating func identify(_ requester: Requester) {
    for handle in state.requesters.learn(requester) {
      if state.presentations[handle]?.endedBy?.client == requester.client {
        state.presentations[handle]!.endedBy = requester
      }
      state.endings.modify(handle) { if $0.by?.client == requester.client { $0.by = requester } }
    }
  }
}

extension Transition {
  /// The client whose request ends a presentation. If it is unknown, it is added to `Outcome.requesters`.
  mutating func requester(_ client: Client, ofTheEndOf handle: Handle) -> Requester {
    let (requester, isNew) = state.requesters.requester(client, ending: handle)
    if isNew { outcome.requesters.append(client) }
    return requester
  }
}
