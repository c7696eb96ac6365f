import PresentationModel
import TextFormats

/// The monitors, the windows and the focused window, as Hyprland answers.
struct HyprlandAnswer {
  /// The request for all facts at once, so that they belong to one moment.
  static let request = "[[BATCH]]j/monitors;j/clients;j/activewindow"

  struct Monitor: Hashable {
    let number: Int64
    let name: String
    /// The workspace that the monitor shows; nil if the answer does not contain it.
    let workspace: Workspace?
    /// The special workspace that the monitor shows above that; nil if there is none.
    let special: Workspace?
    let isFocused: Bool
    /// The area without bars, in the coordinates of windows; nil if the answer does not contain it.
    let usableArea: ScreenArea?
  }

  struct Workspace: Hashable {
    /// The workspace's number or, since 0.57, its address: both stay when its name changes.
    let identity: String
    /// The number. Up to 0.56, a workspace created with a name has a negative number; since then it has none.
    let number: Int64?
    let name: String
  }

  struct Client {
    let address: UInt64
    /// A number that no other window of this run of Hyprland has; nil if the version does not report it.
    let stableID: UInt64?
    var properties: WindowProperties
    let workspace: Workspace?
    let monitor: Int64?
    let isPinned: Bool
    /// The area without the border, which Hyprland draws around it; nil if the answer does not contain it.
    let area: ScreenArea?
    let isGrouped: Bool
    /// Whether the window is in the back of its group.
    let isBehindOthers: Bool
    /// Whether the window is maximized or fullscreen: it then covers the others of its workspace.
    let isCovering: Bool
    let tags: [String]
  }

  let monitors: [Monitor]
  let clients: [Client]
  /// The address of the focused window; nil if there is none.
  let focused: UInt64?

  /// - Returns: nil if the bytes are not an answer to ``request``.
  init?(_ bytes: [UInt8]) {
    // Two empty lines separate the answers to the requests of a batch. Decoding repairs titles that are not UTF-8.
    let (text, separator) = (String(decoding: bytes, as: UTF8.self), "\n\n\n")
    guard let (first, others) = text.parted(at: separator), let (second, third) = others.parted(at: separator),
      let monitors = try? JSON.parse(String(first)).array, let clients = try? JSON.parse(String(second)).array,
      let active = try? JSON.parse(String(third))
    else { return nil }
    self.monitors = monitors.compactMap(Self.monitor)
    self.clients = clients.compactMap(Self.client)
    focused = active["address"]?.string.flatMap(Self.address)
  }

  /// An address as Hyprland writes it, with `0x` or without.
  static func address(_ text: some StringProtocol) -> UInt64? {
    UInt64(text.hasPrefix("0x") ? text.dropFirst(2) : text[...], radix: 16)
  }

  private static func integer(_ json: JSON?) -> Int64? {
    guard case .integer(let number)? = json else { return nil }
    return number
  }

  private static func workspace(_ json: JSON?) -> Workspace? {
    let number = integer(json?["id"])
    guard let identity = json?["address"]?.string ?? number.map({ "\($0)" }), !identity.isEmpty else {
      return nil
    }
    return Workspace(identity: identity, number: number, name: json?["name"]?.string ?? "")
  }

  private static func monitor(_ json: JSON) -> Monitor? {
    guard let number = integer(json["id"]), let name = json["name"]?.string, !name.isEmpty else {
      return nil
    }
    let special = workspace(json["specialWorkspace"])
    return Monitor(
      number: number, name: name, workspace: workspace(json["activeWorkspace"]),
      special: special?.number == 0 ? nil : special, isFocused: json["focused"] == true, usableArea: usableArea(json))
  }

  /// The area of a monitor, which is described in physical pixels, without the reserved edges, which are in logical ones.
  private static func usableArea(_ json: JSON) -> ScreenArea? {
    guard let x = number(json["x"]), let y = number(json["y"]), let width = number(json["width"]),
      let height = number(json["height"])
    else { return nil }
    let scale = number(json["scale"]).flatMap { $0 > 0 ? $0 : nil } ?? 1
    // An odd transform turns the monitor by 90 degrees.
    let isTurned = json["transform"]?.unsigned.map { $0 % 2 == 1 } == true
    let edges = numbers(json["reserved"])
    let (left, top, right, bottom) = edges.count == 4 ? (edges[0], edges[1], edges[2], edges[3]) : (0, 0, 0, 0)
    return ScreenArea(
      x: pixels(x + left), y: pixels(y + top), width: pixels((isTurned ? height : width) / scale - left - right),
      height: pixels((isTurned ? width : height) / scale - top - bottom))
  }

  private static func area(_ json: JSON) -> ScreenArea? {
    let (at, size) = (numbers(json["at"]), numbers(json["size"]))
    guard at.count == 2, size.count == 2 else { return nil }
    return ScreenArea(x: pixels(at[0]), y: pixels(at[1]), width: pixels(size[0]), height: pixels(size[1]))
  }

  private static func numbers(_ json: JSON?) -> [Double] { (json?.array ?? []).compactMap(number) }

  private static func number(_ json: JSON?) -> Double? {
    switch json {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  private static func pixels(_ number: Double) -> Int { Int(exactly: number.rounded()) ?? 0 }

  private static func client(_ json: JSON) -> Client? {
    guard let address = json["address"]?.string.flatMap(address), json["mapped"] != false else {
      return nil
    }
    var properties = WindowProperties()
    properties.appID = json["class"]?.string
    properties.title = json["title"]?.string
    properties.pid = json["pid"]?.unsigned.flatMap(UInt32.init(exactly:)) ?? 0
    properties.floating = json["floating"].map { $0 == true }
    // 1 is maximized, 2 fullscreen, 3 both.
    properties.fullscreen = json["fullscreen"]?.unsigned.map { $0 & 2 != 0 }
    return Client(
      address: address, stableID: json["stableId"]?.string.flatMap { UInt64($0, radix: 16) },
      properties: properties,
      workspace: workspace(json["workspace"]), monitor: integer(json["monitor"]),
      isPinned: json["pinned"] == true, area: area(json),
      isGrouped: json["grouped"]?.array?.isEmpty == false,
      isBehindOthers: json["hidden"] == true, isCovering: json["fullscreen"]?.unsigned.map { $0 > 0 } ?? false,
      tags: json["tags"]?.array?.compactMap(\.string) ?? [])
  }
}
