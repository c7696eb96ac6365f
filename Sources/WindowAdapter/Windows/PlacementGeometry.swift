import PresentationModel

extension WindowPlacement {
  /// The size that a window is asked to have; nil to leave it.
  func size(in area: ScreenArea) -> ScreenSize? {
    func pixels(_ length: Length, of whole: Int) -> Int {
      switch length {
      case .pixels(let number): min(Int(number), whole)
      case .percent(let number): max(1, whole * Int(number) / 100)
      }
    }
    return size.map {
      ScreenSize(width: pixels($0.width, of: area.width), height: pixels($0.height, of: area.height))
    }
  }

  /// The upper left corner of a window of a size, which is then wholly in the usable area if that is large enough; nil to leave it.
  /// - Parameter pointer: where the pointer is; without it, a window at the pointer is in the center.
  func origin(_ size: ScreenSize, in area: ScreenArea, pointer: ScreenPoint? = nil) -> ScreenPoint? {
    let room = ScreenSize(width: area.width - size.width, height: area.height - size.height)
    let margin = Int(margin ?? 0)
    func distance(_ side: Side, in room: Int) -> Int {
      switch side {
      case .start: margin
      case .middle: room / 2
      case .end: room - margin
      }
    }
    var (x, y) = (distance(.middle, in: room.width), distance(.middle, in: room.height))
    switch place {
    case nil: return nil
    case .anchor(let anchor)?:
      (x, y) = (distance(anchor.sides.x, in: room.width), distance(anchor.sides.y, in: room.height))
    case .point(let left, let top)?: (x, y) = (Int(left), Int(top))
    case .pointer?: if let pointer { (x, y) = (pointer.x - area.x, pointer.y - area.y) }
    }
    return ScreenPoint(x: area.x + max(0, min(x, room.width)), y: area.y + max(0, min(y, room.height)))
  }
}
