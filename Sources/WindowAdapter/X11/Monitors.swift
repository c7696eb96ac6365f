/// An output as reported by RandR.
struct Monitor: Hashable {
  let name: String
  let area: ScreenArea
}

extension [Monitor] {
  /// The name of the monitor that shows most of the area, or of the first one of several; empty if none shows any of it.
  func holding(_ area: ScreenArea) -> String {
    var best = (overlap: 0, name: "")
    for monitor in self where monitor.area.overlap(area) > best.overlap {
      best = (monitor.area.overlap(area), monitor.name)
    }
    return best.name
  }
}
