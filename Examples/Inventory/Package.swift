// swift-tools-version: 6.2

import PackageDescription

/// An inventory in GTK's windows: a list, pages, a sheet, an alert, a popover and tabs. A package of its own, so that it is built as a
/// user's program is.
let package = Package(
  name: "Inventory",
  dependencies: [.package(name: "navd", path: "../..", traits: ["GTK"])],
  targets: [
    .executableTarget(
      name: "Inventory",
      dependencies: [
        .product(name: "Navigation", package: "navd"), .product(name: "NavigationGTK", package: "navd"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
