// swift-tools-version: 6.2

import PackageDescription

/// swift-navigation's case studies, with this library. A package of its own, so that it is built as a user's program is:
/// with the macros, and without argument-parser and swift-log.
let package = Package(
  name: "CaseStudies",
  dependencies: [.package(name: "navd", path: "../..", traits: ["Macros"])],
  targets: [
    .testTarget(
      name: "CaseStudiesTests",
      dependencies: [
        .product(name: "Navigation", package: "navd"), .product(name: "NavigationTesting", package: "navd"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
