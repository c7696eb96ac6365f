import TextFormats

/// The applications that are installed, and which of them a mistaken id means. Their directories are read once, for the first mistake.
package final class InstalledApplications {
  /// Those of the session's data, the most important first.
  package let directories: [[UInt8]]
  private lazy var ids = Application.ids(in: directories)
  /// The ids by their last parts, as people call applications.
  private lazy var byName = Dictionary(ids.map { ($0.split(separator: ".").last?.lowercased() ?? $0, $0) }) {
    first, _ in
    first
  }
  /// How many ids may still be compared letter by letter, which takes 10 µs for each: many files may name what is not installed.
  private var comparisons = 4000

  package init(in directories: [[UInt8]] = BaseDirectories.data()) { self.directories = directories }

  /// The application that is probably meant; nil if there is none, or after many questions.
  package func hint(for id: String) -> String? {
    let suffix = ".desktop"
    let name = id.hasSuffix(suffix) ? String(id.dropLast(suffix.count)) : id
    if ids.contains(name) { return name }
    if let hint = byName[name.lowercased()] { return hint }
    guard comparisons > 0 else { return nil }
    comparisons -= ids.count
    return nearest(to: id, among: ids)
  }
}
