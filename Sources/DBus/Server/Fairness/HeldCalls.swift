import DBusValues
import DequeModule

/// The calls of a client that are read but not served yet, because of an earlier call of the client, or until it reads.
final class HeldCalls {
  /// The approximate size of a call without its arguments, in bytes.
  private static let callSize = 256

  private var calls: Deque<(call: () -> Void, size: Int)> = []
  /// The size of the call that was read last, in bytes, until it is appended.
  private var sizeRead = 0
  /// The number of reasons for which the calls wait. If there is none, they are being served.
  var holds = 0
  /// The size left for further calls, in bytes.
  private(set) var budget: Int
  /// The error for calls beyond the budget.
  let refusal: DBusError

  init(budget: Int, refusal: DBusError) {
    self.budget = budget
    self.refusal = refusal
  }

  /// Appends the call whose arguments were read last.
  func append(_ call: @escaping () -> Void) {
    calls.append((call, sizeRead))
    sizeRead = 0
  }

  /// The next call. Its size does not count any more.
  func pop() -> (() -> Void)? {
    guard let (call, size) = calls.popFirst() else { return nil }
    budget += size
    return call
  }

  /// Reads the arguments of one more call.
  /// - Throws: the error of `read`, or `refusal` beyond the budget.
  func reading<Input>(_ read: (inout Int) throws(DBusError) -> Input) throws(DBusError) -> Input {
    var rest = budget - Self.callSize
    guard rest >= 0 else { throw refusal }
    let input = try read(&rest)
    sizeRead = budget - rest
    budget = rest
    return input
  }
}
