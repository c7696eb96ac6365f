// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

/// Settings of all targets: Swift 6 mode; a warning is an error.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The directory of the files that the linker reads and writes in `make build`; nil in other builds.
let linking = Context.environment["NAVD_LINKING"]

/// How `make build` links a program: with a build id, which does not depend on paths, and with a map of what is linked into it.
func linked(_ program: String) -> [LinkerSetting] {
  guard let linking, let commit = Context.environment["NAVD_COMMIT"] else { return [] }
  let name = program.utf8.map { String($0, radix: 16) }.joined()
  return [.unsafeFlags(["-Xlinker", "--build-id=0x\(commit)\(name)", "-Xlinker", "-Map=\(linking)/\(program).map"])]
}

/// How it links navctl, which starts at every key press, and navd, which runs all day: without shared libraries, which take a
/// sixth of their start. They are still loaded at a random address.
let alone: [LinkerSetting] =
  Context.environment["NAVD_LINKS_ALONE"] == nil
  ? [] : [.unsafeFlags(["-static-executable", "-Xclang-linker", "-static-pie"])]

/// How `make build` compiles navctl: not optimized. The compiler would need as long for it as for all of navd, and a command would take
/// as long as now: its time goes by in ArgumentParser and on the bus.
let unoptimized: [SwiftSetting] = linking == nil ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// Dependencies that a program with the library needs only if it enables the trait.
let macros = TargetDependencyCondition.when(traits: ["Macros"])
let programs = TargetDependencyCondition.when(traits: ["Programs"])

/// Whether the targets that use GTK are built with all others, as `make` builds them. The trait is for programs with the library.
let withGTK = Context.environment["NAVD_WITH_GTK"] != nil
let gtk: TargetDependencyCondition? = withGTK ? nil : .when(traits: ["GTK"])

/// `docs/architecture.md` draws the dependencies of these targets, and a test compares the two.
let package = Package(
  name: "navd",
  products: [
    .executable(name: "navd", targets: ["navd"]),
    .executable(name: "navctl", targets: ["navctl"]),
    .executable(name: "navd-windows", targets: ["navd-windows"]),
    .executable(name: "navdoc", targets: ["navdoc"]),
    // For Swift programs that present from their own state.
    .library(name: "Navigation", targets: ["Navigation", "DBusValues", "PresentationModel"]),
    // For those that show their screens with GTK.
    .library(name: "NavigationGTK", targets: ["NavigationGTK"]),
    // For their tests.
    .library(name: "NavigationTesting", targets: ["NavigationTesting"]),
    // For Swift programs that call the bus directly.
    .library(
      name: "DBus", targets: ["CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "TextFormats"]),
  ],
  traits: [
    .trait(name: "Macros", description: "The macros @Cases and @Navigable of Navigation, which need swift-syntax."),
    .trait(name: "GTK", description: "NavigationGTK, which needs GTK 4 (libgtk-4-dev)."),
    .trait(
      name: "Programs", description: "navd, navctl and all other programs. A program with the library needs none."),
    .default(enabledTraits: ["Programs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"604.0.0"),
  ],
  targets: [
    // C libraries.
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CLinux"),
    // Without pkgConfig: SwiftPM would warn everybody who builds another product without these libraries.
    .systemLibrary(name: "CWayland"),
    .systemLibrary(name: "CXCB"),
    .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),

    // Libraries that know nothing of navd.
    .target(name: "DBusValues", swiftSettings: strict),
    .target(name: "TextFormats", swiftSettings: strict),
    .target(
      name: "EventLoops", dependencies: ["CLinux", .product(name: "HeapModule", package: "swift-collections")],
      swiftSettings: strict),
    .target(name: "Processes", dependencies: ["EventLoops", "CLinux"], swiftSettings: strict),
    .target(
      name: "DBus",
      dependencies: [
        "CDBus", "DBusValues", "EventLoops", .product(name: "DequeModule", package: "swift-collections"),
      ], swiftSettings: strict),

    // The vocabulary, the rules, and the contract.
    .target(name: "PresentationModel", dependencies: ["DBusValues", "TextFormats"], swiftSettings: strict),
    .target(
      name: "PresentationRules",
      dependencies: [
        "DBusValues", "PresentationModel", "TextFormats",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(name: "WindowRules", dependencies: ["DBusValues", "PresentationModel"], swiftSettings: strict),
    .target(
      name: "PresentationRecord",
      dependencies: [
        "CLinux", "CoordinatorAPI", "DBusValues", "EventLoops", "PresentationModel", "PresentationRules", "TextFormats",
      ], swiftSettings: strict),
    .target(
      name: "CoordinatorAPI", dependencies: ["DBus", "DBusValues", "PresentationModel", "TextFormats"],
      swiftSettings: strict),

    .target(
      name: "CoordinatorCore",
      dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "PresentationModel", "PresentationRules", "TextFormats"],
      swiftSettings: strict),

    // Files that the session has for all programs.
    .target(name: "SessionFiles", dependencies: ["EventLoops", "TextFormats"], swiftSettings: strict),

    // The daemon and the client.
    .target(
      name: "CoordinatorDaemon",
      dependencies: [
        "CLinux", "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "EventLoops", "PresentationRecord",
        "PresentationModel", "PresentationRules", "Processes", "SessionFiles", "TextFormats", "WindowRules",
        .product(name: "Logging", package: "swift-log", condition: programs),
      ], swiftSettings: strict),
    .target(
      name: "Logs",
      dependencies: ["TextFormats", .product(name: "Logging", package: "swift-log", condition: programs)],
      swiftSettings: strict),
    // Empty without the trait.
    .macro(
      name: "NavigationMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: macros),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: macros),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: macros),
      ], swiftSettings: strict),
    .target(
      name: "Navigation",
      dependencies: [
        "CLinux", "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "EventLoops",
        .byName(name: "NavigationMacros", condition: macros), "PresentationModel", "PresentationRules", "TextFormats",
      ], swiftSettings: strict),
    // Empty without the trait.
    .target(
      name: "NavigationGTK", dependencies: [.byName(name: "CGTK", condition: gtk), "DBusValues", "Navigation"],
      swiftSettings: strict),
    .target(name: "NavigationTesting", dependencies: ["DBusValues", "Navigation"], swiftSettings: strict),
    .executableTarget(
      name: "navd",
      dependencies: [
        "CoordinatorDaemon", "CoordinatorAPI", "EventLoops", "Logs", "TextFormats",
        .product(name: "Logging", package: "swift-log", condition: programs),
      ], swiftSettings: strict, linkerSettings: linked("navd") + alone),
    .executableTarget(
      name: "navctl",
      dependencies: [
        "CLinux", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "SessionFiles",
        "TextFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
      ], swiftSettings: strict + unoptimized, linkerSettings: linked("navctl") + alone),
    .target(
      name: "WindowAdapter",
      dependencies: [
        "CLinux", "CWayland", "CXCB", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel",
        "Processes", "TextFormats", .product(name: "Logging", package: "swift-log", condition: programs),
      ], swiftSettings: strict),
    .executableTarget(
      name: "navd-windows",
      dependencies: [
        "CoordinatorAPI", "EventLoops", "Logs", "WindowAdapter",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
        .product(name: "Logging", package: "swift-log", condition: programs),
      ], swiftSettings: strict, linkerSettings: linked("navd-windows")),
    .executableTarget(
      name: "navdoc",
      dependencies: [
        "CoordinatorDaemon", "CoordinatorAPI", "DBus", "DBusValues", "PresentationModel", "TextFormats",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
      ], resources: [.embedInCode("Pages")], swiftSettings: strict),

    // An example for users to copy, built and tested with the rest.
    .executableTarget(
      name: "presenter", dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel"],
      path: "docs/recipes/swift", swiftSettings: strict),

    // Tests: one folder for each target.
    .target(
      name: "TestSupport",
      dependencies: [
        "CLinux", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "TextFormats",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(name: "DBusValuesTests", dependencies: ["DBusValues"], swiftSettings: strict),
    .testTarget(name: "TextFormatsTests", dependencies: ["TextFormats"], swiftSettings: strict),
    .testTarget(name: "SessionFilesTests", dependencies: ["SessionFiles", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "EventLoopsTests", dependencies: ["CLinux", "EventLoops", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ProcessesTests", dependencies: ["Processes", "EventLoops", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DBusTests", dependencies: ["DBus", "DBusValues", "EventLoops", "TestSupport"],
      swiftSettings: strict),
    // The rules a second time, and the worlds in which both are tried: for the state machine alone, and for navd.
    .target(
      name: "Simulation", dependencies: ["DBusValues", "PresentationModel", "PresentationRules"],
      path: "Tests/Simulation", swiftSettings: strict),
    .testTarget(
      name: "PresentationRulesTests",
      dependencies: [
        "PresentationModel", "PresentationRules", "DBusValues", "Simulation",
        .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .testTarget(
      name: "WindowRulesTests", dependencies: ["DBusValues", "PresentationModel", "TestSupport", "WindowRules"],
      swiftSettings: strict),
    .testTarget(
      name: "PresentationRecordTests",
      dependencies: [
        "DBusValues", "PresentationModel", "PresentationRecord", "PresentationRules", "TestSupport", "TextFormats",
      ], swiftSettings: strict),
    .testTarget(
      name: "CoordinatorAPITests",
      dependencies: ["CoordinatorAPI", "DBus", "DBusValues", "PresentationModel", "TestSupport", "TextFormats"],
      swiftSettings: strict),
    .testTarget(
      name: "CoordinatorCoreTests",
      dependencies: [
        "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "PresentationModel", "PresentationRules",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NavigationTests",
      dependencies: [
        "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "Navigation", "NavigationTesting",
        "TestSupport", "TextFormats", "navd",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CoordinatorDaemonTests",
      dependencies: [
        "CLinux", "CoordinatorDaemon", "CoordinatorAPI", "CoordinatorCore", "DBus", "DBusValues", "EventLoops",
        "PresentationModel", "PresentationRecord", "PresentationRules", "Processes", "TestSupport", "TextFormats",
        .product(name: "Logging", package: "swift-log", condition: programs),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "navctlTests",
      dependencies: [
        "navctl", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "TestSupport",
        "TextFormats",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WindowAdapterTests",
      dependencies: [
        "CXCB", "DBusValues", "EventLoops", "PresentationModel", "Processes", "TestSupport", "TextFormats",
        "WindowAdapter",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "CLinux", "CoordinatorAPI", "DBus", "DBusValues", "EventLoops", "PresentationModel", "PresentationRules",
        "Simulation", "TestSupport", "TextFormats", "navd", "navctl", "navd-windows", "navdoc", "presenter",
      ],
      swiftSettings: strict),
  ]
)

if withGTK {
  package.targets += [
    // Examples for users to copy, which are also packages of their own.
    .executableTarget(
      name: "GTKFacts", dependencies: ["Navigation", "NavigationGTK"], path: "Examples/GTKFacts/Sources/GTKFacts",
      swiftSettings: strict),
    .executableTarget(
      name: "Inventory", dependencies: ["Navigation", "NavigationGTK"], path: "Examples/Inventory/Sources/Inventory",
      swiftSettings: strict),
    // The program that the tests run on a private desktop.
    .executableTarget(
      name: "gtk-screens", dependencies: ["CGTK", "Navigation", "NavigationGTK"], path: "Tests/GTKScreens",
      swiftSettings: strict),
    .testTarget(
      name: "NavigationGTKTests",
      dependencies: [
        "EventLoops", "GTKFacts", "Inventory", "TestSupport", "TextFormats", "gtk-screens", "navctl", "navd",
      ],
      swiftSettings: strict),
  ]
}

if Context.environment["NAVD_PROGRAMS"] != nil {
  // The programs alone, and in one build: what one of them needs is compiled while the processors wait for another. The macros stay,
  // since SwiftPM warns of a dependency that no target has.
  let others: Set = ["Navigation", "NavigationGTK", "NavigationTesting", "Simulation", "TestSupport", "presenter"]
  package.targets.removeAll { $0.type == .test || others.contains($0.name) }
  package.products.removeAll { $0.name.hasPrefix("Navigation") }
}
