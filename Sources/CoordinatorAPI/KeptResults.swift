import DBus
import DBusValues

/// The results of a presenter's ended presentations, by number, until navd has recorded them. If navd is killed before that, the next navd
/// asks again (R6).
public final class KeptResults {
  private let connection: Connection
  private var results: [UInt64: Properties] = [:]

  public init(_ connection: Connection) { self.connection = connection }

  public func keep(_ result: Properties, of number: UInt64) { results[number] = result }

  public func forget(_ number: UInt64) { results[number] = nil }

  /// Returns the result of a presentation, and forgets it.
  public func take(_ number: UInt64) -> Properties? { results.removeValue(forKey: number) }

  /// Answers navd's call to dismiss a presentation with a result, and keeps it until it is recorded.
  public func answer(_ call: Call<Properties>, with result: Properties, of number: UInt64) {
    call.reply(result)
    // An empty result loses nothing.
    guard !result.isEmpty else { return }
    keep(result, of: number)
    // navd reads the answer before this call, and replies only when what it has read is on record.
    connection.call(
      Peer.ping, on: call.sender, at: CoordinatorNames.object, (), timeout: nil, autoStart: false
    ) { [weak self] in
      if case .success = $0 { self?.forget(number) }
    }
  }
}
