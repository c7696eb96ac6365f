/// A serial of one coordinator. A coordinator that has lost its record counts from the beginning, so serials alone do not tell which of
/// two is later.
package struct Moment: Hashable, Comparable, Sendable {
  /// The number of the coordinator among those that this program has met.
  var coordinator = 0
  var serial: UInt64 = 0

  /// The time after the end of all coordinators.
  static let end = Moment(coordinator: .max, serial: .max)

  package static func < (one: Moment, other: Moment) -> Bool {
    (one.coordinator, one.serial) < (other.coordinator, other.serial)
  }
}
