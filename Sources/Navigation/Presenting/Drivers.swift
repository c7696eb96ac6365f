/// The drivers of a navigator, and their work that remains: states to read and requests to send.
@MainActor
struct Drivers {
  private(set) var live = DriverTable()
  /// The ended drivers that still need the end events of their presentations.
  private(set) var retired = DriverTable()
  /// The drivers whose state has changed in this turn.
  let changed = ChangedDrivers()
  /// The items that other clients may present at the bindings of live drivers.
  var declarations = Declarations()
  /// The drivers whose state must be read.
  private var scheduled: Set<ObjectIdentifier> = []
  /// The requests of ended drivers.
  private var dismissals: [Coordinator.Request] = []
  /// The dismissals that could not be sent. They are sent with the next requests, at the latest to the next coordinator.
  private var postponedDismissals: [Coordinator.Request] = []
  /// The number of whole states received. Each means that a coordinator could be reached.
  private(set) var stateCount = 0

  /// All drivers. Both parts are in the order of creation.
  var all: [any Driver] { live.inOrder + retired.inOrder }

  /// The drivers of a binding, including ended ones.
  subscript(binding: String) -> [any Driver] { live[binding] + retired[binding] }

  /// Whether an ended driver has requested the end of a presentation that has not ended.
  func hasGivenUp(_ presentation: PresentationHandle, at binding: String) -> Bool {
    retired[binding].contains { $0.hasGivenUp(presentation) }
  }

  mutating func add(_ driver: any Driver) {
    live.add(driver)
    declarations.note(driver)
  }

  /// Removes a driver that ends.
  /// - Returns: whether it was there.
  mutating func remove(_ driver: any Driver) -> Bool {
    scheduled.remove(ObjectIdentifier(driver))
    guard live.remove(driver) else { return false }
    // A later driver of the same state declares it instead.
    declarations.withdraw(driver, for: live.last(of: driver.subject))
    return true
  }

  /// Adds a driver that had ended, and counts again.
  mutating func revive(_ driver: any Driver) {
    retired.remove(driver)
    live.add(driver)
  }

  /// Keeps an ended driver while its presentations have not ended.
  mutating func keepEnded(_ driver: any Driver) {
    if !driver.isOver { retired.add(driver) }
  }

  /// Notes that the state of a driver must be read, if the driver has not ended.
  /// - Returns: whether it has not ended.
  mutating func schedule(_ driver: any Driver) -> Bool {
    guard live.contains(driver) else { return false }
    scheduled.insert(ObjectIdentifier(driver))
    return true
  }

  // MARK: Requests

  /// Whether there may be requests to send now.
  var isWaitingToSend: Bool { !scheduled.isEmpty || !dismissals.isEmpty || declarations.isWaiting }

  /// Returns the drivers whose state must be read, once. The order of creation has parents before their children.
  mutating func takeScheduled() -> [any Driver] {
    defer { scheduled = [] }
    return live.inOrder(scheduled)
  }

  /// Returns the requests of ended drivers, once.
  mutating func takeDismissals() -> [Coordinator.Request] {
    defer { (postponedDismissals, dismissals) = ([], []) }
    return postponedDismissals + dismissals
  }

  mutating func dismiss(_ requests: [Coordinator.Request]) { dismissals += requests }

  /// Keeps dismissals that could not be sent.
  /// - Parameter stateCount: the number of states received before they were sent. If the next coordinator has sent its state since, they
  ///   are sent with the next requests.
  mutating func postpone(_ requests: [Coordinator.Request], after stateCount: Int) {
    if stateCount == self.stateCount { postponedDismissals += requests } else { dismissals += requests }
  }

  /// Forgets the postponed dismissals, because there will be no coordinator for them.
  mutating func forgetPostponed() { postponedDismissals = [] }

  /// Notes that a coordinator has sent its state.
  mutating func receivedState() {
    stateCount += 1
    (dismissals, postponedDismissals) = (postponedDismissals + dismissals, [])
  }

  /// Takes the remaining requests of ended drivers.
  /// - Parameter touched: the drivers for which an event came.
  mutating func collectLeftovers(of touched: [any Driver]) {
    for driver in touched where retired.contains(driver) {
      dismissals += driver.leftovers()
      if driver.isOver { retired.remove(driver) }
    }
  }
}
