import PresentationModel

/// The client whose request ended something, and its process, as far as known. It is kept with the ending, since people
/// ask for it after the client has left the bus.
public struct Requester: Hashable, Sendable {
  public var client: Client
  public var process: UInt32?
  /// The name of its program, as the process table has it.
  public var program: String?

  public init(_ client: Client, process: UInt32? = nil, program: String? = nil) {
    (self.client, self.process, self.program) = (client, process, program)
  }
}

/// Which clients made something end, and what is known of them.
struct Requesters: Sendable {
  /// How many are known at a time; any of them can be asked about again.
  private static let most = 512

  private var known: [Client: Requester] = [:]
  /// What ends, or has ended, on account of those that are being asked about.
  private var waiting: [Client: [Handle]] = [:]

  /// - Parameter handle: what ends by a request of the client.
  /// - Returns: what is known of it, and whether it is to be asked about.
  mutating func requester(_ client: Client, ending handle: Handle) -> (Requester, isNew: Bool) {
    if let requester = known[client] { return (requester, false) }
    let isNew = waiting[client] == nil
    waiting[client, default: []].append(handle)
    return (Requester(client), isNew)
  }

  /// - Returns: what waited for it.
  mutating func learn(_ requester: Requester) -> [Handle] {
    if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
    known[requester.client] = requester
    return waiting.removeValue(forKey: requester.client) ?? []
  }

  mutating func forget(_ client: Client) { known[client] = nil }
}

extension StateMachine {
  /// What `Outcome.requesters` asked for was found out, as far as it could be.
  public mutating func identify(_ requester: Requester) {
    for handle in state.requesters.learn(requester) {
      if state.presentations[handle]?.endedBy?.client == requester.client {
        state.presentations[handle]!.endedBy = requester
      }
      state.endings.modify(handle) { if $0.by?.client == requester.client { $0.by = requester } }
    }
  }
}

extension Turn {
  /// Who made a presentation end, by a request of theirs.
  mutating func requester(_ client: Client, ofTheEndOf handle: Handle) -> Requester {
    let (requester, isNew) = state.requesters.requester(client, ending: handle)
    if isNew { outcome.requesters.append(client) }
    return requester
  }
}
