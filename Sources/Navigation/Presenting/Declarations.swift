import DBusValues
import PresentationModel

/// The items that other clients may present at the bindings of a navigator, as the coordinator knows them (D18).
@MainActor
struct Declarations {
  /// The declarations that the coordinator knows.
  private var declared: [String: ServedEntry] = [:]
  /// The drivers by the bindings whose declarations the coordinator does not know yet; nil for those to withdraw.
  private var waiting: [String: WeakDriver?] = [:]
  /// The drivers of all declared bindings.
  private var all: [String: WeakDriver] = [:]
  /// The bindings of state that is served while its screens are out of view.
  private var hidden: Set<String> = []
  /// The bindings that another program shows.
  private(set) var elsewhere: Set<String> = []

  private struct WeakDriver { weak var driver: (any Driver)? }

  /// Whether the last declarations could not be sent. They are sent with later ones, or to the next coordinator.
  private var isPostponed = false

  /// Whether there may be declarations to send.
  var isWaiting: Bool { !waiting.isEmpty && !isPostponed }

  mutating func postpone() { isPostponed = true }

  /// Notes a driver that is new, or accepts something else now.
  mutating func note(_ driver: any Driver) {
    guard let binding = driver.served?.binding else { return }
    all[binding] = WeakDriver(driver: driver)
    waiting[binding] = WeakDriver(driver: driver)
    isPostponed = false
  }

  /// Notes whether the state of a binding is served while its screens are out of view.
  mutating func set(_ binding: String, isHidden: Bool) {
    if isHidden { hidden.insert(binding) } else { hidden.remove(binding) }
    if let driver = all[binding]?.driver { note(driver) }
  }

  mutating func withdraw(_ driver: any Driver, for successor: (any Driver)?) {
    if let successor { return note(successor) }
    guard let binding = driver.served?.binding, all[binding]?.driver === driver else { return }
    all[binding] = nil
    elsewhere.remove(binding)
    // The double optional keeps the key.
    waiting[binding] = .some(nil)
    isPostponed = false
  }

  /// Returns the declarations that differ from what the coordinator knows, once. An empty one ends a declaration.
  mutating func take() -> [Structure<String, Properties>] {
    defer { waiting = [:] }
    return waiting.sorted { $0.key < $1.key }.compactMap { binding, driver in
      var accepts = driver?.driver?.served?.accepts
      if hidden.contains(binding) { accepts?.waits = true }
      guard accepts != declared[binding] else { return nil }
      declared[binding] = accepts
      return Structure(binding, accepts?.properties ?? [:])
    }
  }

  /// Notes the answer to declarations.
  /// - Parameter others: the bindings that another program shows.
  mutating func declared(_ bindings: [Structure<String, Properties>], elsewhere others: [String]) {
    elsewhere.subtract(bindings.map(\.fields.0))
    elsewhere.formUnion(others)
  }

  /// Has all declarations made again, to a coordinator that does not know them.
  mutating func forgetDeclared() {
    declared = [:]
    waiting = all.mapValues { $0 }
    isPostponed = false
  }
}
