import ArgumentParser
import CoordinatorAPI
import Glibc

/// Generates the manual pages and the D-Bus reference from the tables and help texts that the programs use.
@main
struct Navdoc: ParsableCommand {
  enum Page: String, CaseIterable, ExpressibleByArgument {
    case navctl = "navctl.1"
    case navd = "navd.8"
    case windows = "navd-windows.8"
    case destination = "navd.destination.5"
    case reference = "dbus.md"
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
    print(try text(), terminator: "")
  }

  private func text() throws -> String {
    switch page {
    case .navctl: NavctlPage(try ProgramHelp(Self.standardInput())).text
    case .navd: NavdPage(try ProgramHelp(Self.standardInput())).text
    case .windows: WindowsPage(try ProgramHelp(Self.standardInput())).text
    case .destination: DestinationPage().text
    case .reference: InterfaceReference.text
    }
  }

  private static func standardInput() -> String {
    var text = ""
    while let line = readLine(strippingNewline: false) { text += line }
    return text
  }
}
