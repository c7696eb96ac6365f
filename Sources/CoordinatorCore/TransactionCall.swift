import CoordinatorAPI
import DBusValues
import PresentationModel
import PresentationRules

/// A call of `Apply`, or the transaction of a start, with its requests in the form for the state
/// machine (T1, K4).
package struct TransactionCall {
  package private(set) var requests: [Request] = []
  private var methods: [any AnyChangingMethod] = []

  private let expectedSerial: UInt64?

  /// - Throws: `Refusal` with the index of the refused request.
  package init(_ requests: [TransactionRequest], _ options: Properties = [:]) throws(Refusal) {
    try Options.ofApply.check(options)
    expectedSerial = options[Options.expectedSerial]
    let isForced = options[Options.force] ?? false
    self.requests.reserveCapacity(requests.count)
    methods.reserveCapacity(requests.count)
    for (index, request) in requests.enumerated() {
      do throws(Refusal) {
        let method = try CoordinatorInterface.changingMethod(request.method)
        var read = try method.request(request.arguments)
        read.isForced = read.isForced || isForced
        self.requests.append(read)
        methods.append(method)
      } catch {
        var refusal = error
        refusal.index = index
        throw refusal
      }
    }
  }

  /// Refuses the call as `stale` if the state has changed since the expected serial (P10).
  func requireCurrent(at serial: Serial) throws(Refusal) {
    guard let expectedSerial, expectedSerial < serial.number else { return }
    throw Refusal(
      .stale, "expected-serial: expected \(expectedSerial), but the state is at \(serial); read the state and ask again"
    )
  }

  /// The answers to the requests, without serials.
  func values(_ replies: [Reply]) -> [[Value]] { zip(methods, replies).map { $0.values($1) } }
}
