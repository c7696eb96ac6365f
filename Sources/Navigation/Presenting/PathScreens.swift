/// The screens that a program has declared for the values of a path.
@MainActor
final class PathScreens {
  /// Makes the screens for values of a type.
  final class Maker {
    let type: any (Hashable & Codable).Type
    let make: @MainActor (_ path: PathState, _ index: Int) -> (any Screen)?
    init(_ type: any (Hashable & Codable).Type, _ make: @escaping @MainActor (PathState, Int) -> (any Screen)?) {
      (self.type, self.make) = (type, make)
    }
  }

  /// The path's name, and its root, for reports.
  private let name: String
  private let root: BindingRoot
  /// The makers by the names of their types; the last one counts.
  private var makers: [String: [Maker]] = [:]
  /// The screens that have appeared, and so have declared the screens above them.
  private var shown: Set<PresentationHandle> = []
  /// A value without a screen, above a screen that has not appeared and may then declare one.
  private var undeclared: (index: Int, element: NavigationPath.Element)?
  /// The types of values that were reported because others do not get them.
  private var untold: Set<String> = []

  init(of name: String, root: BindingRoot) {
    self.name = name
    self.root = root
  }

  func declare(_ type: String, _ maker: Maker) { makers[type, default: []].append(maker) }

  func remove(_ maker: Maker, for type: String) { makers[type]?.removeAll { $0 === maker } }

  /// The types of values for which there are screens, by their names.
  var types: [String: any (Hashable & Codable).Type] { makers.compactMapValues { $0.last?.type } }

  /// Whether there are screens for values of a type.
  func isDeclared(_ type: String) -> Bool { makers[type]?.isEmpty == false }

  /// The number of the lowest values for which there are screens.
  func countOfDeclared(_ values: any PathValues, upTo count: Int) -> Int {
    // The last type saves lookups: most values have the type of the one below.
    var last: String?
    return (0..<count).first { index in
      let type = values.type(index)
      defer { last = type }
      return type != last && !isDeclared(type)
    } ?? count
  }

  /// The maker of the screens for values of a type.
  func maker(for type: String) -> Maker? { makers[type]?.last }

  /// Whether a value can be shown.
  enum Showable {
    case now
    /// The screen below may declare its screen when it appears.
    case perhapsLater
    case never
  }

  func isShowable(_ element: NavigationPath.Element, at index: Int, above below: PresentationHandle?) -> Showable {
    if !element.value.isEmpty, isDeclared(element.type) { return .now }
    if index == 0 || below.map(shown.contains) == true { return .never }
    undeclared = (index, element)
    return .perhapsLater
  }

  /// Notes that a screen of the path has appeared, and has declared the screens above it.
  /// - Returns: the value above that has no screen, if any.
  func appeared(_ presentation: PresentationHandle, at index: Int) -> (index: Int, element: NavigationPath.Element)? {
    shown.insert(presentation)
    guard let undeclared, undeclared.index == index + 1 else { return nil }
    self.undeclared = nil
    return undeclared.element.value.isEmpty || !isDeclared(undeclared.element.type) ? undeclared : nil
  }

  func ended(_ presentation: PresentationHandle) { shown.remove(presentation) }

  /// Reports that the path is cut at a value without a screen.
  func reportCut(at element: NavigationPath.Element) {
    let why = element.value.isEmpty ? "cannot be encoded" : "has no navigationDestination(for:)"
    reportMisuse(
      "a \(element.type) in the path “\(name)” \(why), so it is removed from the path, with what is above it", of: root)
  }

  /// Reports that values of a type are not told to others, once.
  func reportUntold(_ element: NavigationPath.Element) {
    guard untold.insert(element.type).inserted else { return }
    reportMisuse(
      "a \(element.type) in the path “\(name)” is shown without a value on the bus, since it has a null, which D-Bus has not",
      of: root)
  }
}
