import DBusValues
import EventLoops
import PresentationModel
import Testing

@testable import WindowAdapter

/// Where windows are put (N15). The usable area has a bar of 30 pixels above it, at the left of another output.
struct PlacementTests {
  private static let area = ScreenArea(x: 1280, y: 30, width: 1280, height: 690)
  private static let start = MonotonicInstant(nanoseconds: 0)

  @Test(
    "N15: a place is one in the usable area",
    arguments: [
      ("center", 0, 1720, 275), ("top", 20, 1720, 50), ("bottom", 20, 1720, 500), ("left", 20, 1300, 275),
      ("right", 20, 2140, 275), ("top-left", 0, 1280, 30), ("top-right", 20, 2140, 50), ("bottom-left", 20, 1300, 500),
      ("bottom-right", 0, 2160, 520), ("100 50", 0, 1380, 80),
      // What does not fit is in view.
      ("9000 9000", 0, 2160, 520), ("top-right", 5000, 1280, 520), ("pointer", 0, 1720, 275),
    ])
  func place_inTheUsableArea_isThere(_ place: String, _ margin: UInt32, _ x: Int, _ y: Int) throws {
    let placement = WindowPlacement(try .init(place), margin: margin)
    let size = ScreenSize(width: 400, height: 200)
    #expect(placement.origin(size, in: Self.area) == ScreenPoint(x: x, y: y))
  }

  @Test("N15: a window that is larger than the usable area begins at its upper left corner")
  func place_tooLarge_beginsInTheCorner() throws {
    let placement = WindowPlacement(.anchor(.bottomRight))
    let size = ScreenSize(width: 4000, height: 2000)
    #expect(placement.origin(size, in: Self.area) == ScreenPoint(x: 1280, y: 30))
  }

  @Test("N15: at the pointer is where the pointer is, wholly in view")
  func place_atThePointer_isInView() throws {
    let (placement, size) = (WindowPlacement(.pointer), ScreenSize(width: 400, height: 200))
    #expect(
      placement.origin(size, in: Self.area, pointer: ScreenPoint(x: 1400, y: 100)) == ScreenPoint(x: 1400, y: 100))
    #expect(
      placement.origin(size, in: Self.area, pointer: ScreenPoint(x: 2500, y: 700)) == ScreenPoint(x: 2160, y: 520))
  }

  @Test(
    "N15: a size is one of pixels, or a share of the usable area, and at most as large",
    arguments: [("640 400", 640, 400), ("50% 10%", 640, 69), ("9000 1%", 1280, 6)])
  func size_ofFile_isInTheUsableArea(_ text: String, _ width: Int, _ height: Int) throws {
    let placement = WindowPlacement(size: try .init(text))
    #expect(placement.size(in: Self.area) == ScreenSize(width: width, height: height))
  }

  @Test(
    "N15: a text that is no size is refused",
    arguments: ["", "640", "50%x400", "0 400", "640 101%", "-1 5", "640 400 3", "640px 400px", "99999 1", "+5 5"])
  func size_ofAnotherText_isRefused(_ text: String) {
    #expect(throws: Refusal.self) { try WindowPlacement.Size(text) }
  }

  @Test(
    "N15: a text that is no place is refused", arguments: ["", "middle", "1", "-5 3", "1 2 3", "top-center", "1.5 2"])
  func place_ofAnotherText_isRefused(_ text: String) {
    #expect(throws: Refusal.self) { try WindowPlacement.Place(text) }
  }

  @Test("Options of Place are read as they are written, and one of another type is refused")
  func options_ofPlacement_areThoseOfTheContract() throws {
    let all = WindowPlacement(
      .anchor(.topLeft), size: try .init("640 50%"), margin: 7, floats: true, takesFocus: false, isSticky: true,
      isAbove: true, isFullscreen: true)
    for placement in [WindowPlacement(), WindowPlacement(.pointer), WindowPlacement(takesFocus: true), all] {
      #expect(try WindowPlacement(reading: placement.options.properties) == placement)
    }
    #expect(throws: Refusal.self) { try WindowPlacement(reading: ["margin": .string("7")]) }
    #expect(throws: Refusal.self) { try WindowPlacement(reading: ["margin": .uint32(16385)]) }
    #expect(throws: Refusal.self) { try WindowPlacement(checking: ["of-a-later-release": .boolean(true)]) }
    #expect(try WindowPlacement(reading: ["of-a-later-release": .boolean(true)]) == WindowPlacement())
  }

  @Test("N15: the place follows from the size that the program gives its window, for a second")
  func placing_programWithItsOwnSize_isPlacedAgain() throws {
    var pending = Placements<Int>(patience: 3)
    let placement = WindowPlacement(.anchor(.topRight), size: try .init("640 400"))
    func frame(_ width: Int, _ height: Int) -> ScreenArea { ScreenArea(x: 1500, y: 100, width: width, height: height) }
    pending.begin(1, placement, now: Self.start)
    let first = pending.next(1, frame(800, 600), in: Self.area, now: Self.start)
    #expect(
      first
        == .init(isFirst: true, size: ScreenSize(width: 640, height: 400), origin: ScreenPoint(x: 1920, y: 30)))
    #expect(pending.next(1, frame(640, 400), in: Self.area, now: Self.start) == nil)
    // A late frame of another size is drawn once or twice. A program that goes on has decided.
    for _ in 0..<3 {
      #expect(
        pending.next(1, frame(636, 396), in: Self.area, now: Self.start)
          == .init(size: ScreenSize(width: 640, height: 400), origin: ScreenPoint(x: 1920, y: 30)))
    }
    let second = pending.next(1, frame(636, 396), in: Self.area, now: Self.start)
    #expect(second == .init(origin: ScreenPoint(x: 1924, y: 30)))
    #expect(pending.next(1, frame(636, 396), in: Self.area, now: Self.start) == nil)
    // The window manager has lost the size.
    #expect(
      pending.next(1, frame(800, 600), in: Self.area, now: Self.start)?.size == ScreenSize(width: 640, height: 400))
    let late = Self.start + Placements<Int>.timeToResize
    #expect(pending.next(1, frame(700, 500), in: Self.area, now: late) == nil)
    #expect(pending.isEmpty)
  }

  @Test("N15: a window that its user moves while its size is not final stays where it was moved")
  func placing_movedByItsUser_keepsItsPlace() throws {
    var pending = Placements<Int>()
    pending.begin(1, WindowPlacement(.anchor(.topRight), size: try .init("640 400")), now: Self.start)
    func frame(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> ScreenArea {
      ScreenArea(x: x, y: y, width: width, height: height)
    }
    _ = pending.next(1, frame(1500, 100, 800, 600), in: Self.area, now: Self.start)
    // The window manager has lost the size meanwhile.
    #expect(
      pending.next(1, frame(1310, 70, 800, 600), in: Self.area, now: Self.start)
        == .init(size: ScreenSize(width: 640, height: 400), origin: ScreenPoint(x: 1310, y: 70)))
    #expect(pending.next(1, frame(1310, 70, 636, 396), in: Self.area, now: Self.start) == nil)
    #expect(pending.isEmpty)
  }

  @Test("N15: a window that the window manager moves to a place of its own first is placed nevertheless")
  func placing_movedByTheManagerFirst_isPlaced() throws {
    var pending = Placements<Int>(attempts: 0, hasManagersPlace: true)
    pending.begin(1, WindowPlacement(.anchor(.topRight), size: try .init("640 400")), now: Self.start)
    func next(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Placements<Int>.Step? {
      pending.next(1, ScreenArea(x: x, y: y, width: width, height: height), in: Self.area, now: Self.start)
    }
    #expect(next(0, 0, 800, 600)?.isFirst == true)
    #expect(next(300, 200, 636, 396) == .init(origin: ScreenPoint(x: 1924, y: 30)))
    #expect(next(1924, 30, 636, 396) == nil)
    // From now on it is its user who moves it.
    #expect(next(500, 60, 630, 390) == nil)
    #expect(pending.isEmpty)
  }

  @Test("N15: an area from before the request does not count as the size that the program has chosen")
  func placing_areaFromBefore_isNoAnswer() throws {
    var pending = Placements<Int>(attempts: 0, hasManagersPlace: true)
    pending.begin(1, WindowPlacement(.anchor(.topRight), size: try .init("640 400")), now: Self.start)
    func next(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Placements<Int>.Step? {
      pending.next(1, ScreenArea(x: x, y: y, width: width, height: height), in: Self.area, now: Self.start)
    }
    #expect(next(0, 0, 800, 600)?.isFirst == true)
    #expect(next(0, 0, 800, 600) == nil)
    #expect(next(1920, 30, 640, 400) == nil)
    #expect(!pending.isEmpty)
  }

  @Test("N15: a window whose frame comes after it was placed is asked for its size again")
  func placing_frameThatComesLater_isTakenOff() throws {
    var pending = Placements<Int>(attempts: 0, hasManagersPlace: true)
    pending.begin(1, WindowPlacement(.anchor(.topRight), size: try .init("640 400")), now: Self.start)
    func next(border: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Placements<Int>.Step? {
      pending.noteBorder(1, ScreenSize(width: 0, height: border))
      return pending.next(1, ScreenArea(x: x, y: y, width: width, height: height), in: Self.area, now: Self.start)
    }
    let size = ScreenSize(width: 640, height: 400)
    #expect(next(border: 0, 0, 0, 800, 600)?.size == size)
    #expect(next(border: 44, 1920, 30, 640, 444)?.size == size)
    #expect(next(border: 44, 1920, 30, 640, 400) == nil)
  }

  @Test("N15: a window is looked at often at first, and seldom if its program takes long")
  func placing_pause_growsWithItsAge() throws {
    var pending = Placements<Int>()
    pending.begin(1, WindowPlacement(.anchor(.topRight)), now: Self.start)
    let pauses = [0, 40, 500].map { pending.pause(now: Self.start + .milliseconds($0)) }
    #expect(pauses == [.milliseconds(5), .milliseconds(20), .milliseconds(40)])
  }

  @Test("N15: a window that is placed once more gets its size again if it has got back that from before")
  func placing_again_remembersTheFormerSize() throws {
    var pending = Placements<Int>()
    let placement = WindowPlacement(.anchor(.topRight), size: try .init("640 400"))
    func next(_ width: Int, _ height: Int) -> Placements<Int>.Step? {
      pending.next(1, ScreenArea(x: 1500, y: 100, width: width, height: height), in: Self.area, now: Self.start)
    }
    pending.begin(1, placement, now: Self.start)
    #expect(next(800, 600)?.isFirst == true)
    pending.begin(1, placement, now: Self.start)
    #expect(next(640, 400)?.isFirst == true)
    #expect(next(800, 600)?.size == ScreenSize(width: 640, height: 400))
  }

  private static let second = ScreenArea(x: 0, y: 0, width: 1280, height: 720)

  /// Where a window is, on the output at the right or at the left.
  private static func spot(_ x: Int, _ y: Int, in area: ScreenArea = area) -> PlacedWindow.Spot {
    let frame = ScreenArea(x: x, y: y, width: 640, height: 400)
    return PlacedWindow.Spot(output: area.x > 0 ? "right" : "left", area: area, frame: frame)
  }

  @Test("N15: a window that a changed area or an unplugged output leaves out of view is placed again")
  func placed_outOfViewByOutput_isPlacedAgain() throws {
    let placement = WindowPlacement(
      .anchor(.topRight), size: try .init("640 400"), margin: 20, takesFocus: false, isSticky: true)
    let again = WindowPlacement(.anchor(.topRight), size: try .init("640 400"), margin: 20)
    var smaller = Self.area
    smaller.height = 345
    var scaled = PlacedWindow(placement)
    #expect(scaled.move(to: Self.spot(1900, 50), among: ["left", "right"]) == nil)
    #expect(scaled.move(to: Self.spot(1900, 50, in: smaller), among: ["left", "right"]) == again)
    // Once for each change.
    #expect(scaled.move(to: Self.spot(1900, 50, in: smaller), among: ["left", "right"]) == nil)
    var unplugged = PlacedWindow(placement)
    #expect(unplugged.move(to: Self.spot(1900, 50), among: ["left", "right"]) == nil)
    #expect(unplugged.move(to: Self.spot(900, 50, in: Self.second), among: ["left"]) == again)
  }

  @Test("N15: what is in view, or was moved by its user, stays")
  func placed_movedByItsUser_stays() throws {
    var placed = PlacedWindow(WindowPlacement(.anchor(.topRight), size: try .init("640 400")))
    let outputs = ["left", "right"]
    // Half out of view, on the same output and on its way to another one.
    for spot in [
      Self.spot(1920, 30), Self.spot(2300, 100), Self.spot(1300, 100), Self.spot(1000, 100, in: Self.second),
    ] {
      #expect(placed.move(to: spot, among: outputs) == nil)
    }
    // An area that changes under a window that its user has put half out of view.
    var larger = Self.second
    larger.height = 700
    #expect(placed.move(to: Self.spot(1000, 100, in: larger), among: outputs) == nil)
    // The unplugged output leaves it in view.
    #expect(placed.move(to: Self.spot(1300, 100), among: outputs) == nil)
    #expect(placed.move(to: Self.spot(100, 100, in: Self.second), among: ["left"]) == nil)
  }
}
