import ArgumentParser
import DBusValues
import PresentationModel

/// The place, the size and the appearance of the windows, each instead of what the file of the destination says (N15).
struct PlacementOptions: ParsableArguments, RequestOptions {
  @Option(
    help: ArgumentHelp(
      "Where its window is: center, an edge such as top, a corner such as top-right, pointer, or a point such as “100 50”.",
      valueName: "where"),
    completion: .list(WindowPlacement.Anchor.allCases.map(\.rawValue) + ["pointer"]),
    transform: { try $0.part(WindowPlacement.Place.init) })
  var place: WindowPlacement.Place?

  @Option(
    help: ArgumentHelp(
      "Width and height of its window, in pixels or per cent of the screen without bars, e.g. “640 400” or “50% 400”.",
      valueName: "size"),
    transform: { try $0.part(WindowPlacement.Size.init) })
  var size: WindowPlacement.Size?

  @Option(
    help: ArgumentHelp("Pixels between its window and the edges of the screen or its bars.", valueName: "pixels"),
    transform: { try $0.number(upTo: WindowPlacement.maxPixels) })
  var margin: UInt32?

  @Flag(inversion: .prefixedNo, help: "Whether its window floats above tiles, where the desktop puts it.")
  var float: Bool?

  @Flag(inversion: .prefixedNo, help: "Whether its window gets the focus when it opens.")
  var focus: Bool?

  @Flag(inversion: .prefixedNo, help: "Whether its window is on every workspace.")
  var sticky: Bool?

  @Flag(inversion: .prefixedNo, help: "Whether its window is above others.")
  var above: Bool?

  @Flag(inversion: .prefixedNo, help: "Whether its window fills the screen.")
  var fullscreen: Bool?

  func write(to options: inout Properties) {
    let placement = WindowPlacement(
      place, size: size, margin: margin, floats: float, takesFocus: focus, isSticky: sticky, isAbove: above,
      isFullscreen: fullscreen)
    if placement != WindowPlacement() { options[Options.window] = placement.options.properties }
  }

  static var notGiven: Self {
    filled {
      ($0.place, $0.size, $0.margin) = (nil, nil, nil)
      ($0.float, $0.focus, $0.sticky, $0.above, $0.fullscreen) = (nil, nil, nil, nil, nil)
    }
  }
}

extension String {
  /// Reads the argument of an option as the part of a placement.
  fileprivate func part<Part>(_ read: (String) throws(Refusal) -> Part) throws(ValidationError) -> Part {
    do throws(Refusal) { return try read(self) } catch {
      // The shell has taken the second number for a word of its own.
      let isHalf = (try? WindowPlacement.Size("\(self) 1")) != nil
      throw ValidationError(error.message + (isHalf ? "; write two numbers in quotes, such as \"\(self) 400\"" : ""))
    }
  }
}
