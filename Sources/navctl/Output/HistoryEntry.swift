import CoordinatorAPI
import DBusValues
import TextFormats

/// A presentation that has ended, as `History` returns it.
struct HistoryEntry: JSONEntry {
  enum Member: String, CaseIterable {
    case binding, by, destination, error, group, id, presentation, reason, serial
    case shownFor = "shown-for"
    case stack, time
  }

  var members: [String: JSON]

  init(_ properties: Properties) { members = JSON(properties).object ?? [:] }

  var number: UInt64? { self[.presentation]?.unsigned }
  var reason: String { text(.reason) }
  var hasFailed: Bool { reason == PresentationReason.failed }
  /// Serial of the state in which it was gone.
  var serial: UInt64? { self[.serial]?.unsigned }
  /// When it ended, in milliseconds since 1970.
  var time: UInt64? { self[.time]?.unsigned }
  /// Milliseconds.
  var shownFor: UInt64? { self[.shownFor]?.unsigned }

  /// Why it failed. The history does not contain it (rule D6); `history` adds it while navd remembers the result.
  var error: String? {
    get { self[.error]?.string }
    set { self[.error] = newValue.map(JSON.string) }
  }

  /// Program and process id of the client whose request ended it; “itself” if no request did.
  var requester: String {
    guard let requester = self[.by] else {
      return [PresentationReason.closed, PresentationReason.failed].contains(reason) ? "itself" : ""
    }
    let client = requester["client"]?.string ?? ""
    guard let pid = requester["pid"]?.unsigned else { return client }
    return "\(requester["program"]?.string ?? client)[\(pid)]"
  }
}

/// Reasons why a presentation has ended that navctl treats specially.
enum PresentationReason {
  static let closed = "closed"
  static let failed = "failed"
}
