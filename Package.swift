// swift-tools-version: 6.2

import PackageDescription

/// Every target of ours is built in Swift 6 mode, and a warning is an error.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Arrows run one way, from the executables down to the values; `docs/architecture.md` draws them.
let package = Package(
  name: "navd",
  products: [
    .executable(name: "navd", targets: ["navd"]),
    .executable(name: "navctl", targets: ["navctl"]),
    .executable(name: "navbench", targets: ["navbench"]),
    .executable(name: "navdoc", targets: ["navdoc"]),
    // For programs in Swift that drive and show things from their state.
    .library(name: "Navigation", targets: ["Navigation", "DBusValues"]),
    // For those that speak to the bus themselves.
    .library(name: "DBus", targets: ["CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "TextFormats"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // What C gives us.
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

    // What knows nothing of navd.
    .target(name: "DBusValues", swiftSettings: strict),
    .target(name: "TextFormats", swiftSettings: strict),
    .target(name: "EventLoops", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "Processes", dependencies: ["EventLoops", "CLinux"], swiftSettings: strict),
    .target(name: "DBus", dependencies: ["CDBus", "DBusValues", "EventLoops"], swiftSettings: strict),

    // The rules, and the contract.
    .target(
      name: "PresentationRules",
      dependencies: [
        "DBusValues",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "PresentationRecord",
      dependencies: ["CLinux", "CSQLite", "DBusValues", "EventLoops", "PresentationRules"], swiftSettings: strict),
    .target(name: "CoordinatorAPI", dependencies: ["DBus", "DBusValues", "TextFormats"], swiftSettings: strict),

    .target(
      name: "CoordinatorCore",
      dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "PresentationRules", "TextFormats"],
      swiftSettings: strict),

    // The daemon and the client.
    .target(
      name: "CoordinatorDaemon",
      dependencies: [
        "CLinux", "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "EventLoops", "PresentationRecord",
        "PresentationRules", "Processes", "TextFormats",
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .target(
      name: "Navigation",
      dependencies: [
        "CLinux", "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "EventLoops", "PresentationRules",
        "TextFormats",
      ], swiftSettings: strict),
    .executableTarget(
      name: "navd",
      dependencies: [
        "CoordinatorDaemon", "CoordinatorAPI",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "navctl",
      dependencies: [
        "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "TextFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "navbench",
      dependencies: [
        "CLinux", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationRules", "Processes", "TextFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),

    .executableTarget(
      name: "navdoc",
      dependencies: [
        "CoordinatorDaemon", "CoordinatorAPI", "DBus", "DBusValues", "TextFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),

    // Examples that people copy, built and tried with everything else.
    .executableTarget(
      name: "demo",
      dependencies: ["DBusValues", "Navigation", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: strict),
    .executableTarget(
      name: "presenter", dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "EventLoops"],
      path: "docs/recipes/swift", swiftSettings: strict),

    // Tests: a folder a target, and the end-to-end scenarios a file each.
    .target(
      name: "TestSupport",
      dependencies: ["CLinux", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "TextFormats"],
      path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(name: "DBusValuesTests", dependencies: ["DBusValues"], swiftSettings: strict),
    .testTarget(name: "TextFormatsTests", dependencies: ["TextFormats"], swiftSettings: strict),
    .testTarget(name: "EventLoopsTests", dependencies: ["EventLoops", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ProcessesTests", dependencies: ["Processes", "EventLoops", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DBusTests", dependencies: ["DBus", "DBusValues", "EventLoops", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PresentationRulesTests", dependencies: ["PresentationRules", "DBusValues"], swiftSettings: strict),
    .testTarget(
      name: "PresentationRecordTests",
      dependencies: ["CSQLite", "DBusValues", "PresentationRecord", "PresentationRules", "TestSupport"],
      exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "CoordinatorAPITests", dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "TextFormats"],
      swiftSettings: strict),
    .testTarget(
      name: "NavigationTests",
      dependencies: ["CoordinatorAPI", "DBusValues", "Navigation", "TestSupport", "TextFormats", "navd"],
      swiftSettings: strict),
    .testTarget(
      name: "CoordinatorDaemonTests",
      dependencies: [
        "CLinux", "CoordinatorDaemon", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationRules",
        "TestSupport",
        "TextFormats",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "navctlTests",
      dependencies: ["navctl", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "TestSupport", "TextFormats"],
      swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "TestSupport", "TextFormats", "demo", "navd", "navctl",
        "navbench", "navdoc", "presenter",
      ],
      swiftSettings: strict),
  ]
)
