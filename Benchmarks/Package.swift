// swift-tools-version: 6.2

import PackageDescription

/// Measures navd beside its peers (`make bench`). This package is separate, so that a build of navd leaves it out.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "navd", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "navbench",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"), .product(name: "DBus", package: "navd"),
        .product(name: "Navigation", package: "navd"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
