/// A rectangle of the screen, in logical pixels.
struct ScreenArea: Hashable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  var size: ScreenSize { ScreenSize(width: width, height: height) }
  /// The upper left corner.
  var origin: ScreenPoint { ScreenPoint(x: x, y: y) }

  func overlap(_ other: ScreenArea) -> Int {
    let width = min(x + self.width, other.x + other.width) - max(x, other.x)
    let height = min(y + self.height, other.y + other.height) - max(y, other.y)
    return width > 0 && height > 0 ? width * height : 0
  }

  /// nil if the areas have nothing in common.
  func intersection(_ other: ScreenArea) -> ScreenArea? {
    guard overlap(other) > 0 else { return nil }
    let (x, y) = (max(x, other.x), max(y, other.y))
    return ScreenArea(
      x: x, y: y, width: min(self.x + width, other.x + other.width) - x,
      height: min(self.y + height, other.y + other.height) - y)
  }

  func contains(_ other: ScreenArea) -> Bool { overlap(other) == other.width * other.height }
}

/// A point of the screen, in logical pixels.
struct ScreenPoint: Hashable {
  var x: Int
  var y: Int
}

/// A size on the screen, in logical pixels.
struct ScreenSize: Hashable {
  var width: Int
  var height: Int
}
