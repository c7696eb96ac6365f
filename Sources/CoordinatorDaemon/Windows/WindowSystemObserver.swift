import CoordinatorAPI
import PresentationModel

/// Receives what a ``WindowSystem`` reports.
protocol WindowSystemObserver: AnyObject {
  /// Whether any presentation follows windows. If not, the window system need not be observed.
  var needsWindows: Bool { get }
  /// Reports every window: the window system is present, or signals were missed.
  /// - Parameter isSameAdapter: whether the same adapter reported the windows before.
  func windowSystemArrived(_ capabilities: Set<WindowCapability>, _ windows: [Window], isSameAdapter: Bool)
  func windowSystemLeft()
  /// Reports that the adapter did not come back after it had left, or is present and does not answer.
  func windowSystemBecameAbsent()
  func windowChanged(_ event: WindowEvent.Kind)
  /// Reports that outputs are gone. Events of their windows follow.
  func outputsGone(_ gone: Set<String>)
}
