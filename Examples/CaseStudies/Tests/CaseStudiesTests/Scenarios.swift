import Navigation
import NavigationTesting
import Observation

struct Fact: Codable, Hashable, Identifiable {
  var id: Int
  var text = ""
}

// MARK: 1 an optional item

@MainActor @Observable @Navigable
final class FactModel {
  var fact: Fact?
}

@MainActor
func showFact(of model: FactModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  navigator.present(item: $model.fact) { $fact in RecordingScreen(fact.text, on: display) }
}

// MARK: 2 a boolean, and one that it presents

@MainActor @Observable @Navigable
final class SheetModel {
  var isPresented = false
  var isHelpPresented = false
}

@MainActor
func showSheet(of model: SheetModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  navigator.present(isPresented: $model.isPresented) { [help = $model.isHelpPresented] in
    RecordingScreen("sheet", on: display) { sheet in
      sheet.present(isPresented: help) { RecordingScreen("help", on: display) }
    }
  }
}

// MARK: 3 destinations that exclude each other

@MainActor @Observable @Navigable
final class DestinationModel {
  @Cases
  enum Destination {
    case alert(Fact)
    case sheet(Fact)
    case help
  }
  var destination: Destination?
}

@MainActor
func showDestination(of model: DestinationModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  navigator.present(item: $model.destination.alert) { $fact in RecordingScreen("alert \(fact.id)", on: display) }
  navigator.present(item: $model.destination.sheet) { $fact in RecordingScreen("sheet \(fact.id)", on: display) }
  navigator.present(isPresented: Binding($model.destination.help)) { RecordingScreen("help", on: display) }
}

// MARK: 4 an enum that is edited

@Cases
enum Status: Equatable {
  case inStock(quantity: Int)
  case outOfStock(isOnBackOrder: Bool)
}

@MainActor
func edit(_ status: Binding<Status>) {
  switch status.cases {
  case .inStock(let $quantity): $quantity.wrappedValue += 1
  case .outOfStock(let $isOnBackOrder): $isOnBackOrder.wrappedValue = true
  }
}

// MARK: 5 a path with several types

@MainActor @Observable @Navigable
final class PathModel {
  var path = NavigationPath()
}

@MainActor
func showPath(of model: PathModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  let stack = navigator.stack(path: $model.path)
  stack.navigationDestination(for: Int.self) { number in
    RecordingScreen("\(number)", on: display) { $0.push(value: "after \(number)") }
  }
  stack.navigationDestination(for: String.self) { text in RecordingScreen(text, on: display) }
}

// MARK: 6 a tree of models

@MainActor @Observable @Navigable
final class NodeModel: Identifiable {
  let name: String
  var child: NodeModel?
  init(_ name: String, child: NodeModel? = nil) { (self.name, self.child) = (name, child) }
}

@MainActor
func push(_ model: NodeModel, on stack: some Presenting, _ display: Display) {
  @Bindable var model = model
  stack.push(item: $model.child) { $child in
    RecordingScreen(child.name, on: display) { [child] in push(child, on: $0, display) }
  }
}

// MARK: 7 a dialog

@MainActor @Observable @Navigable
final class DialogModel {
  enum Action: String, Codable { case delete }
  var isDeleted = false
  var dialog: Dialog<Action>?

  func askWhetherToDelete() {
    dialog = Dialog("Delete?", message: "It is gone then.") {
      Dialog.Button("Delete", role: .destructive, action: .delete)
      Dialog.Button("Cancel", role: .cancel)
    }
  }
}

@MainActor
func showDialog(of model: DialogModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  navigator.present(dialog: $model.dialog) { [weak model] action, _ in
    model?.isDeleted = true
  } content: { $dialog in
    RecordingScreen(dialog.title, on: display)
  }
}

// MARK: 8 one of several panels

@MainActor @Observable @Navigable
final class PanelModel {
  enum Panel: String, Codable { case wifi, volume }
  var panel: Panel?
}

@MainActor
func showPanels(of model: PanelModel, from navigator: Navigator, on display: Display) {
  @Bindable var model = model
  for panel in [PanelModel.Panel.wifi, .volume] {
    navigator.present(tag: panel, selection: $model.panel) { RecordingScreen(panel.rawValue, on: display) }
  }
}

// MARK: 9 two bindings that are kept equal, and a change without animation

@MainActor @Observable @Navigable
final class FocusModel {
  var focus: String?
  var isOpen = false
}

@MainActor
func connect(_ model: FocusModel, to focus: Binding<String?>) -> Observing {
  @Bindable var model = model
  return bind($model.focus, to: focus)
}

@MainActor
func closeAtOnce(_ model: FocusModel) {
  withTransaction(\.animated, false) { model.isOpen = false }
}
