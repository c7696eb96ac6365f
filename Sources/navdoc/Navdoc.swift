import ArgumentParser
import CoordinatorAPI
import CoordinatorDaemon
import TextFormats

/// Generates the manual pages and the D-Bus reference from the tables and help texts that the programs use.
///
/// A page is written in the folder Pages. In it, a comment such as `<!-- options -->` stands for a list that is generated.
@main
struct Navdoc: ParsableCommand {
  enum Page: String, CaseIterable, ExpressibleByArgument {
    case navctl = "navctl.1"
    case navd = "navd.8"
    case windows = "navd-windows.8"
    case destination = "navd.destination.5"
    case reference = "dbus.md"
    case keys = "keys.md"
  }

  static let configuration = CommandConfiguration(
    commandName: "navdoc",
    abstract: "Writes a page of documentation to standard output.",
    discussion: """
      navctl.1, navd.8 and navd-windows.8 are generated from the program's “--experimental-dump-help”, which navdoc reads from standard \
      input; the other pages from tables.
      """)

  @Argument(help: "The page to write.") var page: Page

  func run() throws {
    func program(_ section: Int, _ manual: String, _ page: [UInt8]) throws -> String {
      let help = try ProgramHelp.standardInput()
      return ManualPage(help.name, section: section, manual: manual, filled(page, help.lists)).text
    }
    let text =
      switch page {
      case .navctl: try program(1, "User Commands", PackageResources.navctl_1_md)
      case .navd: try program(8, "System Administration", PackageResources.navd_8_md)
      case .windows: try program(8, "System Administration", PackageResources.navd_windows_8_md)
      case .destination:
        ManualPage(
          "navd.destination", section: 5, manual: "File Formats", filled(PackageResources.navd_destination_5_md, [:])
        ).text
      case .reference: filled(PackageResources.dbus_md, InterfaceReference.lists)
      case .keys: Self.tablesOfKeys
      }
    print(text, terminator: "")
  }

  /// Puts lists into a page.
  private func filled(_ page: [UInt8], _ lists: [String: String]) -> String {
    var text = String(decoding: page, as: UTF8.self)
    for (name, list) in lists.merging(Self.tables, uniquingKeysWith: { list, _ in list }) {
      text = text.replacingAll("<!-- \(name) -->", with: list)
    }
    return text
  }

  /// The lists from tables with which navd reads files, and with which navctl ends.
  private static var tables: [String: String] {
    [
      "files": String(decoding: PackageResources.files_md, as: UTF8.self),
      "keys of a destination": DestinationKey.Topic.allCases.map { topic in
        "## \(sentence(topic.rawValue, end: ""))\n"
          + DestinationKey.keys(of: topic).map { item($0.rawValue, $0.doc, $0.example) }.joined()
      }.joined(),
      "keys of navd.toml": SettingsKey.allCases.map { item($0.rawValue, $0.doc, $0.example) }.joined(),
      "statuses": CommandStatus.allCases.map { "* `\($0.rawValue)`: \(sentence($0.doc))\n" }.joined(),
    ]
  }

  /// The keys of a destination for docs/configuration.md, in a table for each topic.
  private static var tablesOfKeys: String {
    DestinationKey.Topic.allCases.map { topic in
      let rows = DestinationKey.keys(of: topic).map { "| `\($0.rawValue)` | `\($0.example)` | \($0.doc) |\n" }
      return "### \(sentence(topic.rawValue, end: ""))\n\n| key | example | what it says |\n|---|---|---|\n"
        + rows.joined()
    }.joined(separator: "\n")
  }

  /// The item of a key of a file, with an example.
  private static func item(_ key: String, _ doc: String, _ example: String) -> String {
    let code = "\(key) = \(example)".replacingAll("\n", with: "\n    ")
    return "* `\(key)`: \(sentence(doc))\n    \(code)\n"
  }

  /// A description as a sentence: a capital letter, and a full stop unless it ends with “…”.
  private static func sentence(_ doc: String, end: String = ".") -> String {
    doc.prefix(1).uppercased() + doc.dropFirst().replacingAll("\n", with: " ") + (doc.hasSuffix("…") ? "" : end)
  }
}
