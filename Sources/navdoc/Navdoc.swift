import ArgumentParser
import CoordinatorAPI
import DBus
import Glibc

/// Generates the manual pages and the D-Bus reference from the tables and help texts that the programs use.
@main
struct Navdoc: ParsableCommand {
  enum Page: String, CaseIterable, ExpressibleByArgument {
    case navctl = "navctl.1"
    case navd = "navd.8"
    case windows = "navd-windows.8"
    case destination = "navd.destination.5"
    case coordinator = "org.navd.Coordinator1.5"
    case presentation = "org.navd.Presentation1.5"
    case group = "org.navd.Group1.5"
    case stack = "org.navd.Stack1.5"
    case hold = "org.navd.Hold1.5"
    case presenter = "org.navd.Presenter1.5"
    case windowSystem = "org.navd.WindowSystem1.5"
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
    case .coordinator: InterfacePage(CoordinatorInterface.interface).text
    case .presentation: InterfacePage(PresentationInterface.interface).text
    case .group: InterfacePage(GroupInterface.interface).text
    case .stack: InterfacePage(StackInterface.interface).text
    case .hold: InterfacePage(HoldInterface.interface).text
    case .presenter: InterfacePage(PresenterInterface.interface).text
    case .windowSystem: InterfacePage(WindowSystemInterface.interface).text
    case .reference: InterfaceReference.text
    }
  }

  private static func standardInput() -> String {
    var text = ""
    while let line = readLine(strippingNewline: false) { text += line }
    return text
  }
}
