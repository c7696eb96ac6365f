import Glibc
import Navigation
import NavigationTesting
import Testing

/// The coordinators: the embedded one, and navd where the tests run in a session with it (`.ci/examples`).
enum Kind: CaseIterable {
  case embedded, session

  static let available = getenv("CASE_STUDIES_IN_SESSION") == nil ? [Kind.embedded] : allCases

  @MainActor func navigator() async throws -> Navigator {
    Navigator(self == .embedded ? .embedded() : try await .session())
  }
}

@Suite @MainActor struct ScenarioTests {
  private let display = Display()

  private func shows(_ names: String...) async throws {
    try await until { display.names == names }
  }

  @Test(arguments: Kind.available) private func item_changed_isReplaced(_ kind: Kind) async throws {
    let (model, navigator) = (FactModel(), try await kind.navigator())
    showFact(of: model, from: navigator, on: display)
    model.fact = Fact(id: 1, text: "one")
    try await shows("one")
    model.fact = Fact(id: 2, text: "two")
    try await shows("two")
    try await display["two"]?.close()
    try await navigator.settle(within: .seconds(10))
    #expect(model.fact == nil && navigator.screens.isEmpty)
  }

  @Test(arguments: Kind.available) private func sheet_dismissed_takesItsChildrenAlong(_ kind: Kind) async throws {
    let (model, navigator) = (SheetModel(), try await kind.navigator())
    showSheet(of: model, from: navigator, on: display)
    (model.isPresented, model.isHelpPresented) = (true, true)
    try await shows("sheet", "help")
    model.isPresented = false
    try await navigator.settle(within: .seconds(10))
    #expect(display.log == ["+sheet", "+help", "-help", "-sheet"])
  }

  @Test(arguments: Kind.available) private func destinations_changed_excludeEachOther(_ kind: Kind) async throws {
    let (model, navigator) = (DestinationModel(), try await kind.navigator())
    showDestination(of: model, from: navigator, on: display)
    model.destination = .alert(Fact(id: 1))
    try await shows("alert 1")
    model.destination = .sheet(Fact(id: 2))
    try await shows("sheet 2")
    model.destination = .help
    try await shows("help")
    try await display["help"]?.close()
    try await navigator.settle(within: .seconds(10))
    #expect(model.destination == nil && display.log.suffix(2) == ["+help", "xhelp"])
  }

  @Test func status_edited_keepsItsCase() {
    @Binding var status = Status.inStock(quantity: 1)
    edit($status)
    #expect(status == .inStock(quantity: 2))
    status = .outOfStock(isOnBackOrder: false)
    edit($status)
    #expect(status == .outOfStock(isOnBackOrder: true))
  }

  @Test(arguments: Kind.available) private func path_ofSeveralTypes_isShown(_ kind: Kind) async throws {
    let (model, navigator) = (PathModel(), try await kind.navigator())
    showPath(of: model, from: navigator, on: display)
    model.path = NavigationPath([1])
    try await shows("1", "after 1")
    #expect(model.path.count == 2)
    model.path = NavigationPath()
    try await shows()
  }

  @Test(arguments: Kind.available) private func tree_ofModels_isADeepLink(_ kind: Kind) async throws {
    let root = NodeModel("root", child: NodeModel("a", child: NodeModel("b")))
    let navigator = try await kind.navigator()
    push(root, on: navigator.stack(), display)
    try await shows("a", "b")
    root.child?.child = NodeModel("c")
    try await shows("a", "c")
    root.child = nil
    try await shows()
  }

  @Test(arguments: Kind.available) private func dialog_buttonPressed_acts(_ kind: Kind) async throws {
    let (model, navigator) = (DialogModel(), try await kind.navigator())
    showDialog(of: model, from: navigator, on: display)
    model.askWhetherToDelete()
    try await shows("Delete?")
    let (screen, button) = (try #require(display["Delete?"]), try #require(model.dialog?.buttons.first))
    try await screen.showing?.choose(button)
    try await navigator.settle(within: .seconds(10))
    #expect(model.isDeleted && model.dialog == nil)
  }

  @Test(arguments: Kind.available) private func panels_selected_oneAtATime(_ kind: Kind) async throws {
    let (model, navigator) = (PanelModel(), try await kind.navigator())
    showPanels(of: model, from: navigator, on: display)
    model.panel = .wifi
    try await shows("wifi")
    model.panel = .volume
    try await shows("volume")
    try await display["volume"]?.close()
    try await until { model.panel == nil }
  }

  @Test func focus_ofTheModelAndTheView_isOne() async throws {
    let model = FocusModel()
    @Binding var focus: String? = nil
    let connection = connect(model, to: $focus)
    model.focus = "name"
    try await until { focus == "name" }
    focus = nil
    try await until { model.focus == nil }
    connection.cancel()
  }

  @Test(arguments: Kind.available) private func change_withoutAnimation_reachesTheScreen(_ kind: Kind) async throws {
    let (model, navigator) = (FocusModel(), try await kind.navigator())
    @Bindable var bindable = model
    navigator.present(isPresented: $bindable.isOpen) { [display] in RecordingScreen("open", on: display) }
    model.isOpen = true
    try await shows("open")
    closeAtOnce(model)
    try await until { display.log == ["+open", "-!open"] }
  }
}
