import EventLoops
import Glibc
import TestSupport
import Testing

/// Screens whose methods have almost the right signatures: the compiler refuses them, since nothing would call them.
@Suite(.serialized) struct NearMissTests {
  private static let disappear = "'disappear(_:animated:)' with type '(Showing, Bool) async -> Properties'"
  private static let prepare = "'prepareToDisappear' with type '(Showing) async throws -> ()'"

  /// A class that almost conforms, and what the compiler says that it lacks.
  private static let screens: [(protocol: String, members: String, lacks: String)] = [
    ("Screen", "func disappear(_ showing: Showing, animated: Bool) async throws -> Properties { [:] }", disappear),
    (
      "Screen", "func disappear(_ showing: Showing, animated: Bool) async throws(Declined) -> Properties { [:] }",
      disappear
    ),
    ("Screen", "func disappear(_ showing: Showing) async -> Properties { [:] }", disappear),
    ("Screen", "func disappear(_ showing: Showing, animated: Bool) async {}", disappear),
    ("Screen", "func disappear(animated: Bool) async -> Properties { [:] }", disappear),
    ("Screen", "", disappear),
    ("DecliningScreen", "\(right)", prepare),
    ("DecliningScreen", "\(right); func prepareToDisappear() async throws {}", prepare),
    ("DecliningScreen", "\(right); func prepareToDisappear(_ showing: Showing) async throws -> Bool { true }", prepare),
  ]
  private static let right = "func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }"

  @Test("A near miss of a screen's method is an error that names the right signature")
  func screen_nearMiss_isAnErrorOfTheCompiler() throws {
    let classes = Self.screens.enumerated().map { number, screen in
      "final class Near\(number): \(screen.protocol) { func appear(_ showing: Showing) async throws {}; \(screen.members) }"
    }
    let compiler = try typecheck(classes)
    #expect(compiler.exitCode == 1)
    let lines = compiler.errorText.split(separator: "\n")
    for (number, screen) in Self.screens.enumerated() {
      let said = lines.drop { !$0.contains("program.swift:\(number + 3):") }
        .prefix { !$0.contains("program.swift:\(number + 4):") }.joined(separator: "\n")
      #expect(
        said.contains("type 'Near\(number)' does not conform to protocol '\(screen.protocol)'"), "\(screen): \(said)")
      #expect(said.contains(screen.lacks), "\(screen): \(said)")
    }
  }

  @Test("An element without an identity has no binding, which a later element in its place would get")
  func element_withoutIdentity_isAnErrorOfTheCompiler() throws {
    let compiler = try typecheck([
      "func first(_ numbers: Binding<[Int]>) -> Binding<Int> { numbers[0] }",
      "func visit(_ numbers: Binding<[Int]>) { for number in numbers { _ = number } }",
    ])
    #expect(compiler.exitCode == 1)
    let errors = compiler.errorText.split(separator: "\n").filter { $0.contains(": error:") }
    #expect(
      errors.contains { $0.contains("program.swift:3:") && $0.contains("have to be Identifiable") }, "\(errors)")
    #expect(errors.contains { $0.contains("program.swift:4:") && $0.contains("Identifiable") }, "\(errors)")
  }

  @Test("An item whose id cannot be encoded is an error that says what to do")
  func item_withUncodableID_isAnErrorOfTheCompiler() throws {
    let calls: [(call: String, says: String)] = [
      ("navigator.present(item: item) { _ in nil }", "by present(item:id:content:)"),
      ("navigator.present(item: item, onDismiss: {}) { _ in nil }", "by present(item:id:content:)"),
      ("navigator.present(item: item, to: \"viewer\")", "by present(item:id:to:)"),
      ("navigator.present(item: object, to: \"viewer\")", "by present(item:id:to:)"),
      ("navigator.push(item: item) { _ in nil }", "by push(item:id:content:)"),
      ("navigator.stack(path: path)", "have to be Hashable and Codable: make them so, or take their ids"),
    ]
    let state = "_ item: Binding<Item?>, _ object: Binding<Object?>, _ path: Binding<[Key]>"
    let compiler = try typecheck(
      calls.enumerated().map { number, call in "@MainActor func call\(number)(\(state)) { _ = \(call.call) }" } + [
        "struct Key: Hashable {}", "struct Item: Identifiable { var id = Key() }",
        "final class Object: Identifiable {}",
        "@MainActor let navigator = Navigator(.embedded())",
      ])
    #expect(compiler.exitCode == 1)
    let errors = compiler.errorText.split(separator: "\n").filter { $0.contains(": error:") }
    #expect(errors.count == calls.count, "\(errors)")
    for (number, (call, says)) in calls.enumerated() {
      let said = errors.filter { $0.contains("program.swift:\(number + 3):") }
      #expect(said.count == 1 && said[0].contains("has to be Codable") != call.contains("path:"), "\(call): \(said)")
      #expect(said.allSatisfy { $0.contains(says) }, "\(call): \(said)")
    }
  }

  @Test("A usual program, such as one that asks before a screen disappears, compiles with one import")
  func program_withOneImport_compiles() throws {
    let compiler = try typecheck([
      """
      import Observation
      struct Unsaved: Error {}
      final class Editor: DecliningScreen {
        func appear(_ showing: Showing) async throws {}
        func prepareToDisappear(_ showing: Showing) async throws {
          try await showing.ask("Save the changes?")
          if Task.isCancelled { throw Unsaved() }
          throw Declined("the text is not saved")
        }
        \(Self.right)
      }
      struct Note: Codable, Hashable, Identifiable { var id: Int; var text = "" }
      @MainActor @Observable final class Model {
        struct Child { var note: Note? }
        var note: Note?
        var child: Child?
        var notes: [Note] = []
        var isShown = false
      }
      final class Page: Screen {
        init(_ note: Binding<Note>? = nil) {}
        func appear(_ showing: Showing) async throws {}
        \(Self.right)
      }
      @MainActor final class Program {
        @Bindable var model = Model()
        let navigator = Navigator(.embedded())
        func make(_ note: Binding<Note>) -> Page { Page(note) }
        func start() {
          navigator.present(item: $model.child.note) { [weak self] note in self?.make(note) }
          navigator.present(isPresented: $model.isShown) { [weak self] in self == nil ? nil : Page() }
          for note in $model.notes { note.text.wrappedValue += "." }
          navigator.onRefused = { error in
            if case .refused(let refused) = error { print(refused.message, refused.name) }
          }
        }
      }
      """
    ])
    #expect(compiler.exitCode == 0, "\(compiler.errorText)")
  }

  @Test("A file may import a toolkit that has types with the same names")
  func names_besideAToolkit_areToldApart() throws {
    let toolkit = """
      public struct Binding<Value> { public init(_ value: Value) {} }
      public struct Bindable<Value> {}
      public struct Transaction { public init() {} }
      public struct NavigationPath { public init() {} }
      public struct ContainerValues {}
      public struct NavigationStack { public init() {} }
      public struct Tab { public init() {} }
      """
    let compiler = try typecheck(
      [
        "import Toolkit", "import struct Navigation.Bindable", "import Observation",
        "func own() -> (NavigationStack, Tab, Toolkit.NavigationPath) { (NavigationStack(), Tab(), Toolkit.NavigationPath()) }",
        "func text(_ text: Navigation.Binding<String>) -> Toolkit.Binding<String> { .init(text.wrappedValue) }",
        "@MainActor @Observable final class Model { var isOpen = false; var path = Navigation.NavigationPath() }",
        """
        @MainActor func present(@Bindable _ model: Model, by navigator: Navigator) {
          let stack: ScreenStack = navigator.stack(path: $model.path)
          stack.navigationDestination(for: Int.self) { _ in nil }
          withTransaction(Navigation.Transaction(animated: false)) { $model.isOpen.wrappedValue = true }
        }
        """,
      ], beside: toolkit)
    #expect(compiler.exitCode == 0, "\(compiler.errorText)")
  }

  /// Type-checks declarations of a program with the library. The first declaration is in line 3.
  /// - Parameter toolkit: the source of a further module, `Toolkit`.
  private func typecheck(_ declarations: [String], beside toolkit: String = "") throws -> Program {
    let directory = TemporaryDirectory()
    let file = directory.path(of: "program.swift")
    try Files.write((["import Navigation", ""] + declarations).joined(separator: "\n"), to: file)
    try Files.write(toolkit, to: directory.path(of: "Toolkit.swift"))
    let loop = try EventLoop()
    let script = """
      cd "$0"
      [ -s Toolkit.swift ] && swiftc -emit-module -parse-as-library -module-name Toolkit Toolkit.swift
      for flag in $(pkg-config --cflags dbus-1); do set -- "$@" -Xcc "$flag"; done
      exec swiftc -typecheck -swift-version 6 -warnings-as-errors -parse-as-library -module-name Program -I . "$@"
      """
    let program = try Program(
      loop,
      [
        "/bin/sh", "-c", script, directory.path, "-I", Session.besideTests("Modules"), "-I",
        "\(Files.package)/Sources/CDBus", "-I", "\(Files.package)/Sources/CLinux", file,
      ], environment: ["PATH": String(cString: getenv("PATH")), "HOME": directory.path])
    #expect(loop.turn(until: { program.hasEnded }))
    return program
  }
}
