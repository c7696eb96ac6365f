import PresentationModel

/// A call of a client that the service answers once, now or later.
package protocol ServiceCall<Output>: AnyObject {
  associatedtype Output
  /// The caller.
  var client: Client { get }
  /// Whether the caller wants an answer.
  var isReplyExpected: Bool { get }
  func reply(_ output: Output)
  func fail(_ refusal: Refusal)
}

/// Answers a call with the value of `body`, or with its refusal.
package func answer<Output>(_ call: some ServiceCall<Output>, _ body: () throws(Refusal) -> Output) {
  do throws(Refusal) {
    call.reply(try body())
  } catch {
    call.fail(error)
  }
}
