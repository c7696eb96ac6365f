// The types and values that the samples in the library's documentation use. `.ci/samples` puts each sample into a function of `Sample`, and `.ci/docc`
// compiles them all.

import CGTK
import DBusValues
import Navigation
import NavigationGTK
import NavigationTesting
import Observation

struct Fact: Codable, Hashable, Identifiable {
  var id = 7
  var text = ""
}

struct Note: Codable, Hashable, Identifiable {
  var id = 7
  var text = ""
  var due: String?
  var isDone = false
}

struct Item: Codable, Hashable, Identifiable {
  var id = 7
  var name = ""
  var count = 1
}

struct Question: Codable, Identifiable { var id = 1 }

enum Answer: String, Codable { case discard, keep }
enum Panel: String, Codable { case help, history }
enum Field: String, Codable { case name, street }
enum Tag: String, Codable { case items, totals }
enum Deletion: Hashable, Codable { case item(Int) }

struct Badge: ContainerValueKey { static let defaultValue = 0 }
extension ContainerValues {
  var badge: Int {
    get { self[Badge.self] }
    set { self[Badge.self] = newValue }
  }
}

enum Shape: HasCases {
  case circle(Double)
  case none

  struct Cases {
    let circle = EnumCase("circle", Shape.circle) { if case .circle(let radius) = $0 { radius } else { nil } }
  }
  static let cases = Cases()
}

enum Destination: HasCases, HasBoundCases {
  case edit(Note), alert(Question), help

  struct Cases {
    let edit = EnumCase("edit", Destination.edit) { if case .edit(let note) = $0 { note } else { nil } }
    let alert = EnumCase("alert", Destination.alert) { if case .alert(let question) = $0 { question } else { nil } }
    let help = EnumCase("help", { Destination.help }) { if case .help = $0 { () } else { nil } }
  }
  static let cases = Cases()

  enum BoundCase { case edit(Binding<Note>), alert(Binding<Question>), help }
  static func bound(to destination: Binding<Destination>) -> BoundCase {
    destination.edit.map(BoundCase.edit) ?? destination.alert.map(BoundCase.alert) ?? .help
  }
}

@MainActor @Observable
final class Settings: Identifiable { var isDark = false }

@MainActor @Observable
final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.note: "note", \.notes: "notes", \.path: "path"]
  var isOpen = false
  var isHinted = false
  var count = 0
  var price = 0.0
  var text = ""
  var shape = Shape.none
  var fact: Fact?
  var note: Note?
  var letter: Note?
  var notes: [Note] = []
  var items: [Item] = []
  var answers: [String] = []
  var destination: Destination?
  var dialog: Dialog<Answer>?
  var settings: Settings?
  var panel: Panel?
  var tab: Tag?
  var path: [Note.ID] = []
  var openNotes: [Note] = []
  var mixedPath = NavigationPath()

  func add() {}
  func save() async throws {}
}

@MainActor @Observable
final class Form {
  var focus: Field?
  var name = ""
}

@MainActor
final class Bar { var tabs: [(String?, Int, Bool)] = [] }

@MainActor
final class ItemModel { var deletion = Dialog<Int>("Delete?") {} }

@MainActor
final class Draft {
  var isChanged = false
  func userDiscards() async -> Bool { true }
}

final class Window: Screen {
  init(_ text: String = "") {}
  func appear(_ showing: Showing) async throws {}
  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

@MainActor func mainWindow(_ model: Model) -> WindowScreen {
  WindowScreen("Main") { showing in showing.label { model.text } }
}
@MainActor func MainWindow() -> Window { Window() }
@MainActor func NoteWindow(_ note: Binding<Note>) -> Window { Window() }
@MainActor func FactWindow(_ fact: Binding<Fact>) -> Window { Window() }
func Prices() -> AsyncStream<Double> { AsyncStream { nil } }

@MainActor
struct Sample {
  @Bindable var model: Model
  @Bindable var form: Form
  @Binding var note: Note
  @Binding var item: Item
  let navigator: Navigator
  let coordinator: Coordinator
  let showing: Showing
  let stack: ScreenStack
  let fact: Binding<Fact>
  let hasChanges: Bool
  let display: Display
  let presentation: PresentationHandle
  let bar: Bar
  let draft: Draft
  let itemModel: ItemModel
  var options: PresentationOptions {
    get { PresentationOptions() }
    nonmutating set {}
  }
  let end: CheckedContinuation<Void, Never>
  let (button, list, name, street, cancel, save): (Widget, Widget, Widget, Widget, Widget, Widget)
  var observings: [Observing] {
    get { [] }
    nonmutating set {}
  }
  var dialog: Dialog<Deletion>? {
    get { nil }
    nonmutating set {}
  }

  func userAgrees() async -> Bool { true }
  func editor(_ showing: Showing) -> Widget { list }
  func factEditor(_ fact: Binding<Fact>, _ showing: Showing) -> Widget { list }
  func page(_ note: Binding<Note>) -> PageScreen { PageScreen("Note") { _ in list } }
}
