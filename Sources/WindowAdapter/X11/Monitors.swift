/// A rectangle of the X screen.
struct ScreenArea: Hashable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  func overlap(_ other: ScreenArea) -> Int {
    let width = min(x + self.width, other.x + other.width) - max(x, other.x)
    let height = min(y + self.height, other.y + other.height) - max(y, other.y)
    return width > 0 && height > 0 ? width * height : 0
  }

  func contains(_ other: ScreenArea) -> Bool { overlap(other) == other.width * other.height }
}

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
