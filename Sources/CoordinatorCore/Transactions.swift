import CoordinatorAPI
import DBusValues
import PresentationModel
import PresentationRules

/// The requests of a call of `Apply` (T1).
struct TransactionRequests {
  private(set) var requests: [Request] = []
  private var methods: [any AnyChangingMethod] = []

  /// - Parameter serial: the serial of the state.
  /// - Throws: `Refusal`; its index is that of the refused request.
  init(
    _ requests: [Structure<String, [Value]>], _ options: Properties, at serial: Serial
  ) throws(Refusal) {
    try Options.ofApply.check(options)
    if let expected = options[Options.expectedSerial], expected < serial.number {
      throw Refusal(
        .stale, "expected-serial: expected \(expected), found \(serial); read the state and repeat the request")
    }
    self.requests.reserveCapacity(requests.count)
    methods.reserveCapacity(requests.count)
    for (index, request) in requests.enumerated() {
      do throws(Refusal) {
        let method = try CoordinatorInterface.changingMethod(request.fields.0)
        self.requests.append(try method.request(request.fields.1))
        methods.append(method)
      } catch {
        var refusal = error
        refusal.index = index
        throw refusal
      }
    }
  }

  /// The answers to the requests, each without the serial.
  func values(_ replies: [Reply]) -> [[Value]] { zip(methods, replies).map { $0.values($1) } }
}
