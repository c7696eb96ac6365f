/// The windows that are shown, in their stacking order.
struct WindowStack<Key: Hashable> {
  struct Layer {
    let key: Key
    /// The area of the window, frame included.
    let area: ScreenArea
    let isFocused: Bool
  }

  /// The largest number of windows that are looked at as covers, the topmost first: the work is linear in the windows.
  private static var maxCovers: Int { 64 }

  /// The windows that lie under a single other one as a whole. One with the focus is in use, whatever lies above it.
  /// - Parameter layers: the windows, from the bottom to the top.
  static func covered(_ layers: [Layer]) -> Set<Key> {
    var covers: [ScreenArea] = []
    var covered: Set<Key> = []
    for layer in layers.reversed() {
      if covers.contains(where: { $0.contains(layer.area) }) {
        if !layer.isFocused { covered.insert(layer.key) }
      } else if covers.count < maxCovers {
        covers.append(layer.area)
      }
    }
    return covered
  }
}
