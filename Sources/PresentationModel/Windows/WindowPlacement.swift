import DBusValues
import TextFormats

/// The place, the size and the appearance of a window on its output (N15). The compositor decides about what is nil.
public struct WindowPlacement: Hashable, Sendable {
  /// A place in the usable area of an output, which is the area without bars.
  public enum Place: Hashable, Sendable {
    case anchor(Anchor)
    /// The upper left corner of the window, in logical pixels from that of the area.
    case point(x: UInt32, y: UInt32)
    /// At the pointer, as menus are.
    case pointer
  }

  /// The edges that a window is beside.
  public enum Anchor: String, Hashable, Sendable, CaseIterable {
    case center, top, bottom, left, right
    case topLeft = "top-left"
    case topRight = "top-right"
    case bottomLeft = "bottom-left"
    case bottomRight = "bottom-right"

    /// The part of the usable area in which the window is, along both axes.
    package var sides: (x: Side, y: Side) {
      let x: Side =
        switch self {
        case .left, .topLeft, .bottomLeft: .start
        case .right, .topRight, .bottomRight: .end
        case .center, .top, .bottom: .middle
        }
      let y: Side =
        switch self {
        case .top, .topLeft, .topRight: .start
        case .bottom, .bottomLeft, .bottomRight: .end
        case .center, .left, .right: .middle
        }
      return (x, y)
    }
  }

  /// A part of the usable area along one axis, from left to right or from top to bottom.
  package enum Side: Sendable {
    case start, middle, end
  }

  public enum Length: Hashable, Sendable {
    /// Logical pixels.
    case pixels(UInt32)
    /// A share of the usable area.
    case percent(UInt32)
  }

  /// A size with the frame.
  public struct Size: Hashable, Sendable {
    public var width: Length
    public var height: Length

    public init(width: Length, height: Length) { (self.width, self.height) = (width, height) }
  }

  public var place: Place?
  public var size: Size?
  /// Logical pixels between the window and the edges of the usable area; nil for none.
  public var margin: UInt32?
  /// Whether the window floats where the compositor puts it.
  public var floats: Bool?
  /// Whether the window gets the focus when it opens. If not, the window that had the focus keeps it.
  public var takesFocus: Bool?
  /// Whether the window is on every workspace.
  public var isSticky: Bool?
  /// Whether the window is above others.
  public var isAbove: Bool?
  public var isFullscreen: Bool?

  public init(
    _ place: Place? = nil, size: Size? = nil, margin: UInt32? = nil, floats: Bool? = nil, takesFocus: Bool? = nil,
    isSticky: Bool? = nil, isAbove: Bool? = nil, isFullscreen: Bool? = nil
  ) {
    self.place = place
    self.size = size
    self.margin = margin
    self.floats = floats
    self.takesFocus = takesFocus
    self.isSticky = isSticky
    self.isAbove = isAbove
    self.isFullscreen = isFullscreen
  }

  /// Whether the compositor has to let the window float: a tile has neither a place nor a size of its own.
  public var makesFloating: Bool {
    floats == true || place != nil || size != nil || isSticky == true || isAbove == true
  }

  /// The capabilities of an adapter that can show a window so.
  package var needs: Set<WindowCapability> {
    if isFullscreen == nil { return [.place] }
    return self == WindowPlacement(isFullscreen: isFullscreen) ? [.fullscreen] : [.place, .fullscreen]
  }

  /// The part of the placement that an adapter with these capabilities can carry out.
  package func possible(with capabilities: Set<WindowCapability>) -> WindowPlacement {
    var possible = capabilities.contains(.place) ? self : WindowPlacement()
    possible.isFullscreen = capabilities.contains(.fullscreen) ? isFullscreen : nil
    return possible
  }

  /// The same for a window that was shown by another placement: what that one has switched on is switched off.
  package func replacing(_ former: WindowPlacement) -> WindowPlacement {
    func off(_ isOn: Bool?, after wasOn: Bool?) -> Bool? { isOn ?? (wasOn == true ? false : nil) }
    var placement = self
    placement.isSticky = off(isSticky, after: former.isSticky)
    placement.isAbove = off(isAbove, after: former.isAbove)
    placement.isFullscreen = off(isFullscreen, after: former.isFullscreen)
    return placement
  }

  /// Merges two placements; `later` takes precedence.
  public func overridden(by later: WindowPlacement) -> WindowPlacement {
    WindowPlacement(
      later.place ?? place, size: later.size ?? size, margin: later.margin ?? margin, floats: later.floats ?? floats,
      takesFocus: later.takesFocus ?? takesFocus, isSticky: later.isSticky ?? isSticky,
      isAbove: later.isAbove ?? isAbove, isFullscreen: later.isFullscreen ?? isFullscreen)
  }
}

// MARK: Words

extension WindowPlacement {
  /// The largest number of logical pixels of a length or a place.
  public static let maxPixels: UInt32 = 16384

  /// The mistake of a margin without a place, in a file or a request.
  package static let marginNeedsPlace = "“margin” needs “place”: it is the distance to the edges"
}

extension WindowPlacement.Place {
  /// Reads the word of a place, such as `top-right`, or a point, such as `100 50`.
  /// - Throws: `Refusal` with the code `invalidArgument` for another text.
  public init(_ text: String) throws(Refusal) {
    if let anchor = WindowPlacement.Anchor(rawValue: text) {
      self = .anchor(anchor)
    } else if text == "pointer" {
      self = .pointer
    } else if let (x, y) = pair(text, of: { number($0, upTo: WindowPlacement.maxPixels) }) {
      self = .point(x: x, y: y)
    } else {
      let words = WindowPlacement.Anchor.allCases.map(\.rawValue) + ["pointer"]
      let hint = nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
      throw Refusal(
        .invalidArgument,
        "expected \(words.joined(separator: ", ")), or a point of 0 to \(WindowPlacement.maxPixels) such as 100 50, found "
          + quoted(text) + hint)
    }
  }

  public var text: String {
    switch self {
    case .anchor(let anchor): anchor.rawValue
    case .point(let x, let y): "\(x) \(y)"
    case .pointer: "pointer"
    }
  }
}

extension WindowPlacement.Length {
  fileprivate init?(_ text: Substring) {
    let isPercent = text.hasSuffix("%")
    guard
      let number = number(isPercent ? text.dropLast() : text[...], upTo: isPercent ? 100 : WindowPlacement.maxPixels),
      number > 0
    else { return nil }
    self = isPercent ? .percent(number) : .pixels(number)
  }

  fileprivate var text: String {
    switch self {
    case .pixels(let number): "\(number)"
    case .percent(let number): "\(number)%"
    }
  }
}

extension WindowPlacement.Size {
  /// Reads a width and a height, such as `640 400` or `50% 400`.
  /// - Throws: `Refusal` with the code `invalidArgument` for another text.
  public init(_ text: String) throws(Refusal) {
    guard let (width, height) = pair(text, of: { WindowPlacement.Length($0) }) else {
      throw Refusal(
        .invalidArgument,
        "expected a width and a height, each 1 to \(WindowPlacement.maxPixels) pixels or 1% to 100%, such as 640 400 or "
          + "50% 400, found \(quoted(text))")
    }
    self.init(width: width, height: height)
  }

  public var text: String { "\(width.text) \(height.text)" }
}

private func number(_ text: Substring, upTo limit: UInt32) -> UInt32? {
  guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = UInt32(text) else {
    return nil
  }
  return number <= limit ? number : nil
}

private func pair<Part>(_ text: String, of part: (Substring) -> Part?) -> (Part, Part)? {
  let words = text.split(separator: " ")
  guard words.count == 2, let first = part(words[0]), let second = part(words[1]) else { return nil }
  return (first, second)
}

// MARK: Options

extension WindowPlacement {
  /// A placement as the options of `Place`.
  public struct Options: TypedDictionary {
    public var properties: Properties
    public init(_ properties: Properties) { self.properties = properties }

    public static let keys = Keys()
    public final class Keys: Sendable {
      public let place = DictionaryKey<String>(
        "place",
        doc: """
          Where in the usable area of its output, which is the one without bars: center, top, bottom, left, right, top-left, \
          top-right, bottom-left, bottom-right or pointer. It may also be the logical pixels of its upper left corner, such \
          as “100 50”. The window floats.
          """)
      public let size = DictionaryKey<String>(
        "size",
        doc: """
          The width and the height with the frame, each in logical pixels or per cent of the usable area, such as “640 400” or \
          “50% 400”. The window floats. The program's own limits win, and the place follows from the size that it has.
          """)
      public let margin = DictionaryKey<UInt32>("margin", doc: "Logical pixels to the edges of the usable area.")
      public let float = DictionaryKey<Bool>("float", doc: "Whether it floats, without a place of its own.")
      public let focus = DictionaryKey<Bool>(
        "focus", doc: "With false, the focus returns to the window that had it when this one opened.")
      public let sticky = DictionaryKey<Bool>("sticky", doc: "Whether it is on every workspace.")
      public let above = DictionaryKey<Bool>("above", doc: "Whether it is above others.")
      public let fullscreen = DictionaryKey<Bool>("fullscreen", doc: "Whether it fills its output.")
    }
  }

  /// Reads the options of `Place`. Keys of a later release are left out.
  /// - Throws: `Refusal` with the code `invalidArgument` for a value of another type, and for a text that is no place or no size.
  public init(reading options: Properties) throws(Refusal) {
    let table = Options.table
    try self.init(checking: options.filter { table[$0.key] != nil })
  }

  /// Reads the options of `Place`.
  /// - Throws: `Refusal` with the code `invalidArgument` for an unknown option, a value of another type, and for a text that is
  ///   no place or no size.
  public init(checking options: Properties) throws(Refusal) {
    try Options.table.check(options)
    let options = Options(options)
    self.init(
      try Self.read("place", options.place, Place.init), size: try Self.read("size", options.size, Size.init),
      margin: options.margin, floats: options.float, takesFocus: options.focus, isSticky: options.sticky,
      isAbove: options.above, isFullscreen: options.fullscreen)
    if let margin, margin > Self.maxPixels {
      throw Refusal(.invalidArgument, "margin: expected 0 to \(Self.maxPixels), found \(margin)")
    }
  }

  private static func read<Part>(
    _ key: String, _ text: String?, _ part: (String) throws(Refusal) -> Part
  ) throws(Refusal) -> Part? {
    guard let text else { return nil }
    do throws(Refusal) { return try part(text) } catch { throw Refusal(.invalidArgument, "\(key): \(error.message)") }
  }

  /// The options of `Place`.
  public var options: Options {
    var options = Options([:])
    options.place = place?.text
    options.size = size?.text
    options.margin = margin
    options.float = floats
    options.focus = takesFocus
    options.sticky = isSticky
    options.above = isAbove
    options.fullscreen = isFullscreen
    return options
  }
}
