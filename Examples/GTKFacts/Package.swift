// swift-tools-version: 6.2

import PackageDescription

/// Facts about numbers, and notes, in GTK's windows. A package of its own, so that it is built as a user's program is.
let package = Package(
  name: "GTKFacts",
  dependencies: [.package(name: "navd", path: "../..", traits: ["GTK"])],
  targets: [
    .executableTarget(
      name: "GTKFacts",
      dependencies: [
        .product(name: "Navigation", package: "navd"), .product(name: "NavigationGTK", package: "navd"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
