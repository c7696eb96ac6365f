import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import TextFormats
import WindowRules

extension WindowFollowing {
  /// The required capabilities of the window system, each with the key that requires it, as the subject of a sentence.
  var needs: [(capability: WindowCapability, key: String)] {
    var all: [(WindowCapability, String)] = []
    if pattern.isEmpty { all.append((.pid, "[window] without “app-id” and “title”")) }
    if hides { all.append((.hide, "dismissal = \"hide\"")) }
    if endsWithOutput { all.append((.output, "output-gone = \"dismiss\"")) }
    if comesHere { all.append((.summon, "here = true")) }
    if endsUnfocused { all.append((.focus, "unfocus = \"dismiss\"")) }
    return all
  }

  /// The keys that a window system without a capability leaves out, `place` or `fullscreen`; nil for none. The rest works without it.
  func placed(by capability: WindowCapability) -> String? {
    let keys = placement.options.properties.keys.filter {
      ($0 == WindowPlacement.Options.keys.fullscreen.name) == (capability == .fullscreen)
    }
    return keys.isEmpty ? nil : keys.sorted().map { "“\($0)”" }.joined(separator: ", ")
  }
}

/// The capabilities of an adapter for the window system.
public struct WindowSystemFacts: Sendable {
  let capabilities: Set<WindowCapability>
  let backend: String
  /// The compositor, by its name; nil if it is not known.
  var compositor: String?
  /// The limit in bytes of the backend's name, which appears in messages.
  private static let maxName = 64

  init(_ properties: Properties) {
    typealias Rows = WindowSystemInterface
    let names = properties[Rows.capabilities.name.text].flatMap { [String](value: $0) } ?? []
    capabilities = Set(names.compactMap(WindowCapability.init))
    let name = properties[Rows.backend.name.text].flatMap { String(value: $0) } ?? ""
    backend = String(decoding: name.utf8.prefix(Self.maxName), as: UTF8.self)
  }

  init(_ capabilities: Set<WindowCapability>, backend: String) {
    (self.capabilities, self.backend) = (capabilities, backend)
  }

  /// Asks the adapters on the session bus, each of which knows the windows of one display. Those that do not answer are left out.
  public static func ofSession() -> [(display: DisplayNames, facts: WindowSystemFacts)] {
    guard let address = try? Connection.sessionAddress(), let loop = try? EventLoop(),
      let connection = try? Connection.open(address: address, loop: loop),
      let adapters = try? WindowSystemInterface.adapters(on: connection, within: .seconds(1))
    else { return [] }
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    let here = DisplayNames(wayland: variable("WAYLAND_DISPLAY"), x11: variable("DISPLAY"))
    return adapters.compactMap { _, properties in
      guard let properties else { return nil }
      let display = DisplayNames(reading: properties)
      var facts = WindowSystemFacts(properties)
      if !here.isOther(than: display) { facts.compositor = Compositor.name(variable) }
      return (display, facts)
    }
  }

  /// The reasons why destinations cannot work on displays. A reason that holds on all of them is given once; any other names its display.
  static func faults(
    of destinations: [Destination], on displays: [(display: DisplayNames, facts: WindowSystemFacts)],
    _ entries: DesktopEntries = DesktopEntries()
  ) -> [FileFault] {
    let all = displays.map { $0.facts.faults(of: destinations, entries) }
    let common = (all.first ?? []).filter { fault in all.allSatisfy { $0.contains(fault) } }
    return common
      + zip(displays, all).flatMap { display, faults in
        faults.filter { !common.contains($0) }.map {
          FileFault($0.file, $0.position, "on \(display.display.preferred ?? "the first display"): \($0.message)")
        }
      }
  }

  /// The reason why the window system cannot do something; nil if it can.
  /// - Parameter what: the subject of the sentence, such as “raising a window”.
  func whyNot(_ capability: WindowCapability, for what: String) -> String? {
    guard !capabilities.contains(capability) else { return nil }
    let proof = backend == "wlr" ? Self.proofs[capability].map { " before a window was seen \($0)" } ?? "" : ""
    return "\(what) needs “\(capability.rawValue)”, which the backend “\(backend)” does not offer on "
      + (compositor ?? "this desktop") + proof
  }

  /// The advice about the compositor's own rules, as the end of a sentence; empty for a compositor without such rules.
  private func adviceOnRules(_ destination: String) -> String {
    guard let compositor else {
      return "; “navctl windows --rules COMPOSITOR \(destination)” prints the compositor's own rule"
    }
    let known = Compositor(rawValue: compositor.lowercased())
    return known.map { "; add what “navctl windows --rules \($0.rawValue) \(destination)” prints to \($0.place)" } ?? ""
  }

  /// The state of a window that proves that a compositor with `wlr` does what it accepts, in words.
  private static let proofs: [WindowCapability: String] = [.hide: "to be minimized", .output: "on an output"]

  /// The reasons why destinations cannot work here, or the ways in which they work otherwise than they say.
  func faults(of destinations: [Destination], _ entries: DesktopEntries = DesktopEntries()) -> [FileFault] {
    return destinations.flatMap { destination -> [FileFault] in
      guard case .file(let path) = destination.source, let window = destination.window else { return [] }
      let needs: [(WindowCapability, String)] = [
        (.place, "placing a window"), (.fullscreen, "making a window fullscreen"),
      ]
      let unplaced = needs.compactMap { capability, what -> FileFault? in
        guard let keys = window.placed(by: capability), let why = whyNot(capability, for: what) else { return nil }
        return FileFault(path, nil, "\(keys): left out, since \(why)\(adviceOnRules(destination.name))")
      }
      let unmet = window.needs.compactMap { need -> FileFault? in
        guard let why = whyNot(need.capability, for: need.key) else { return nil }
        guard need.capability == .pid, let suggested = SuggestedAppID(of: destination, entries) else {
          return FileFault(path, nil, why)
        }
        return FileFault(
          path, nil,
          "\(need.key) goes by the application id \(quoted(suggested.name)) here, while no other window has it, since the "
            + "backend “\(backend)” tells no processes; write “app-id”, or give the command an id of its own")
      }
      return unmet + unplaced
    }
  }
}

extension DisplayNames {
  /// Reads the display of an adapter from its properties; without names if it does not tell. Names that are too long are left out.
  init(reading properties: Properties) {
    let names = properties[WindowSystemInterface.displays.name.text].flatMap { [String](value: $0) } ?? []
    self.init(names.filter { $0.utf8.count <= WindowSystem.maxText })
  }
}

extension SuggestedAppID {
  /// The application id that the command of a destination suggests; nil if there is no command, or it suggests none.
  init?(of destination: Destination, _ entries: DesktopEntries) {
    guard case .command(let words, _) = destination.presenter else { return nil }
    self.init(of: words) { entries.ids(of: $0) }
  }
}
