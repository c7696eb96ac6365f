import PresentationModel

/// A call of a client. The service answers it once, now or later.
package protocol ServiceCall<Output>: AnyObject {
  associatedtype Output
  var client: Client { get }
  /// Whether the caller expects an answer.
  var isReplyExpected: Bool { get }
  func reply(_ output: Output)
  func fail(_ refusal: Refusal)
}

/// Answers a call with the value of `body`, or with its refusal.
/// - Parameter body: returns the value; nil if it answers the call itself, later.
package func answer<Output>(_ call: some ServiceCall<Output>, _ body: () throws(Refusal) -> Output?) {
  do throws(Refusal) {
    if let output = try body() { call.reply(output) }
  } catch {
    call.fail(error)
  }
}
