import DBusValues
import PresentationModel
import PresentationRules

@testable import CoordinatorDaemon

/// The reports and the data of presenters.
final class ReportLog: ReportReceiver {
  var reports: [Report] = []
  private(set) var memories: [Handle: Properties] = [:]

  func take(_ report: Report) { reports.append(report) }
  func remember(_ memory: Properties, of handle: Handle) { memories[handle] = memory }
}
