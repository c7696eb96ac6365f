import TextFormats

/// The installed applications, and a search for the one that a mistaken id means. The directories are read once, for the first mistake.
package final class InstalledApplications {
  /// The directories of the session's data, the most important first.
  package let directories: [[UInt8]]
  private lazy var ids = Application.ids(in: directories)
  /// The ids by their last parts, in the way that people name applications.
  private lazy var byName = Dictionary(ids.map { ($0.split(separator: ".").last?.lowercased() ?? $0, $0) }) {
    first, _ in
    first
  }
  /// The number of ids that may still be compared letter by letter. A comparison takes 10 µs, and many files may name applications that
  /// are not installed.
  private var comparisons = 4000

  package init(in directories: [[UInt8]] = BaseDirectories.data()) { self.directories = directories }

  /// The id of the application that is probably meant; nil if there is none, or after too many comparisons.
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
