import Navigation
import NavigationGTK

// MARK: the window, with its tabs
@MainActor
func inventoryWindow(@Bindable _ model: Inventory) -> WindowScreen {
  WindowScreen("Inventory") { showing in
    let (area, help) = (PageArea(), showing.button("Help") { model.destination = .help })
    showing.present(tag: .items, selection: $model.tab, presenting: [.path($model.path)]) {
      itemsTab(model, in: area)
    }
    showing.present(tag: .totals, selection: $model.tab) { totalsTab(model, in: area) }
    showing.present(item: $model.destination.edit) { item in itemSheet($item: item, of: model) }
    showing.present(dialog: $model.destination.delete) { id, _ in model.delete(id) }
    showing.present(isPresented: Binding($model.destination.help)) {
      PopoverScreen(on: help) { showing in showing.label { "An item has a name and a count." } }
    }
    return .column(.row(showing.tabBar($model.tab, [.items: "Items", .totals: "Totals"]), help), area.widget)
  }
}

// MARK: the items, each on a page
@MainActor
func itemsTab(@Bindable _ model: Inventory, in area: PageArea) -> PageScreen {
  PageScreen("Items", in: area) { showing in
    let list = showing.list {
      model.items.map(\.summary)
    } onActivate: {
      model.path.append(model.items[$0].id)
    }
    let root = Widget.column(list, showing.button("Add") { model.add() })
    let stack = showing.navigationStack(path: $model.path, title: "Items", root: root)
    stack.navigationDestination(for: Inventory.Item.ID.self) { id in
      Binding($model.items[id: id]).map { item in itemPage($item: item, of: model) }
    }
    return stack.widget
  }
}

@MainActor
func itemPage(@Binding item: Inventory.Item, of model: Inventory) -> PageScreen {
  PageScreen(item.name) { showing in
    .column(
      showing.label { item.summary },
      showing.button("Edit") { model.destination = .edit(item) },
      showing.button("Delete") { model.askToDelete(item) })
  }
}

// MARK: the totals, with a deep link
@MainActor
func totalsTab(_ model: Inventory, in area: PageArea) -> PageScreen {
  PageScreen("Totals", in: area) { showing in
    .column(
      showing.label { "\(model.count) pieces of \(model.items.count) kinds" },
      showing.button("Edit the scarcest") {
        if let item = model.items.min(by: { $0.count < $1.count }) { model.edit(item) }
      })
  }
}

// MARK: the sheet, which asks before a text is lost
@MainActor
func itemSheet(@Binding item: Inventory.Item, of model: Inventory) -> WindowScreen {
  WindowScreen("Item") { showing in
    .column(
      showing.entry($item.name),
      showing.spinButton($item.count, in: 0...1000),
      .row(showing.button("Cancel") { showing.dismiss() }, showing.button("Save") { model.save(item) }))
  } prepare: { showing in
    if model.isSaved(item) { return }
    let question = Dialog<Bool>("Discard the changes?") {
      Dialog.Button("Keep editing", role: .cancel)
      Dialog.Button("Discard", role: .destructive, action: true)
    }
    guard try await showing.answer(to: question) == true else { throw Declined("the item is not saved") }
  }
}

// MARK: the program
@main @MainActor
struct Program {
  static func main() {
    let model = Inventory()
    let isEmbedded = CommandLine.arguments.contains("--embedded")
    MainLoop.run(on: { isEmbedded ? .embedded() : try await .session() }) { navigator in
      navigator.present(isPresented: Bindable(model, .shared("inventory")).isOpen) { inventoryWindow(model) }
    }
  }
}
