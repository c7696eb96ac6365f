/// The names by which programs find a display (N14).
public struct DisplayNames: Hashable, Sendable {
  /// The last part of the socket's path, such as `wayland-1`; nil if there is none.
  private let wayland: String?
  /// The display of X11 without its screen, such as `:0`; nil if there is none.
  private let x11: String?

  /// - Parameters:
  ///   - wayland: the value of `WAYLAND_DISPLAY`; nil or empty if it is not set.
  ///   - x11: the value of `DISPLAY`; nil or empty if it is not set.
  public init(wayland: String?, x11: String?) {
    self.wayland = wayland.flatMap { $0.split(separator: "/").last.map(String.init) }
    self.x11 = x11.flatMap { text -> String? in
      guard let colon = text.lastIndex(of: ":") else { return nil }
      let host = text[..<colon]
      return (host == "unix" ? "" : String(host)) + String(text[colon...].prefix { $0 != "." })
    }
  }

  /// Makes the names of an adapter's display.
  /// - Parameter names: the values of `WAYLAND_DISPLAY` and `DISPLAY`, in any order.
  public init(_ names: [String]) {
    self.init(wayland: names.first { !$0.contains(":") }, x11: names.first { $0.contains(":") })
  }

  /// The name that programs prefer; nil if there is none. Most prefer Wayland.
  public var preferred: String? { wayland ?? x11 }

  /// Whether a program with these variables shows its windows on another display than the
  /// adapter's; false if that is not known. A nested compositor keeps the X11 display of the outer
  /// one.
  /// - Parameter adapter: the names of the adapter's display.
  public func isOther(than adapter: DisplayNames) -> Bool {
    if adapter.wayland == nil, adapter.x11 == nil { return false }
    if let wayland { return wayland != adapter.wayland }
    return x11.map { $0 != adapter.x11 } ?? false
  }
}
