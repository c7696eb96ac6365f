/// The screens that a program has declared for the values of a path.
@MainActor
final class PathScreens {
  /// Makes the screens for values of a type.
  final class Maker {
    let make: @MainActor (_ path: PathState, _ index: Int) -> (any Screen)?
    init(_ make: @escaping @MainActor (PathState, Int) -> (any Screen)?) { self.make = make }
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
  /// The reported mistakes, so that each is reported once.
  private var reports: Set<String> = []

  init(of name: String, root: BindingRoot) {
    self.name = name
    self.root = root
  }

  func declare(_ type: String, _ maker: Maker) { makers[type, default: []].append(maker) }

  func remove(_ maker: Maker, for type: String) { makers[type]?.removeAll { $0 === maker } }

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

  /// Whether a value can be shown. If not, this is reported, unless the screen below it may still declare its screen.
  func canShow(_ element: NavigationPath.Element, at index: Int, above below: PresentationHandle?) -> Bool {
    if !element.value.isEmpty, isDeclared(element.type) { return true }
    if index == 0 || below.map(shown.contains) == true { report(element) } else { undeclared = (index, element) }
    return false
  }

  /// Notes that a screen of the path has appeared, and has declared the screens above it.
  func appeared(_ presentation: PresentationHandle, at index: Int) {
    shown.insert(presentation)
    guard let undeclared, undeclared.index == index + 1 else { return }
    self.undeclared = nil
    if undeclared.element.value.isEmpty || !isDeclared(undeclared.element.type) { report(undeclared.element) }
  }

  func ended(_ presentation: PresentationHandle) { shown.remove(presentation) }

  /// Reports a value without a screen.
  private func report(_ element: NavigationPath.Element) {
    if element.value.isEmpty {
      report(element, "cannot be encoded, so it is not shown, and what is above it neither")
    } else {
      report(element, "has no navigationDestination(for:), so it is not shown, and what is above it neither")
    }
  }

  /// Reports a type of value once.
  func report(_ element: NavigationPath.Element, _ what: String) {
    let message = "a \(element.type) in the path “\(name)” \(what)"
    if reports.insert(message).inserted { reportMisuse(message, of: root) }
  }
}
