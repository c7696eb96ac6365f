import DBus
import DBusValues

/// The results of a presenter's presentations that have ended, by number, until navd has recorded them: if one is killed before that, the
/// next one asks again (R6).
public final class KeptResults {
  private let connection: Connection
  private var results: [UInt64: Properties] = [:]

  public init(_ connection: Connection) { self.connection = connection }

  public func keep(_ result: Properties, of number: UInt64) { results[number] = result }

  public func forget(_ number: UInt64) { results[number] = nil }

  /// The result of a presentation, which is not kept any longer.
  public func take(_ number: UInt64) -> Properties? { results.removeValue(forKey: number) }

  /// Answers navd's call to dismiss a presentation with a result, and keeps it until it is recorded.
  public func answer(_ call: Call<Properties>, with result: Properties, of number: UInt64) {
    call.reply(result)
    // Nothing of it can be lost.
    guard !result.isEmpty else { return }
    keep(result, of: number)
    // navd takes the answer in before this call, and answers no call before what it has taken in is on record.
    connection.call(
      Peer.ping, on: call.sender, at: CoordinatorNames.object, (), timeout: nil, autoStart: false
    ) { [weak self] in
      if case .success = $0 { self?.forget(number) }
    }
  }
}
