import Glibc

extension WindowPattern {
  /// Whether a window's app-id and title match. An unknown property matches no pattern.
  package func matches(_ window: WindowProperties) -> Bool {
    guard !isEmpty else { return false }
    func fits(_ pattern: String?, _ text: String?) -> Bool {
      guard let pattern else { return true }
      guard let text else { return false }
      return fnmatch(pattern, text, 0) == 0
    }
    return fits(appID, window.appID) && fits(title, window.title)
  }
}
