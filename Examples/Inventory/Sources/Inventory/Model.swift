import Navigation
import Observation

/// The state, from which all windows, pages and dialogs follow. It knows nothing of GTK.
@MainActor @Observable
final class Inventory {
  struct Item: Codable, Hashable, Identifiable {
    let id: Int
    var name: String
    var count: Int
    var summary: String { "\(count) × \(name)" }
  }

  /// The sheet or the dialog in front of the window.
  enum Destination {
    case edit(Item)
    case delete(Dialog<Item.ID>)
    case help
  }

  enum Tab: String, Codable { case items, totals }

  var isOpen = true
  var items = [Item(id: 1, name: "Hammer", count: 2), Item(id: 2, name: "Saw", count: 1)]
  var tab: Tab? = .items
  /// The ids of the items whose pages are open.
  var path: [Item.ID] = []
  var destination: Destination?

  // MARK: The items

  var count: Int { items.reduce(0) { $0 + $1.count } }

  /// Whether nothing is lost if the item is not saved.
  func isSaved(_ item: Item) -> Bool { items.contains(item) || item.name.isEmpty }

  func save(_ item: Item) {
    if let index = items.firstIndex(where: { $0.id == item.id }) { items[index] = item } else { items.append(item) }
    destination = nil
  }

  func delete(_ id: Item.ID) {
    path.removeAll { $0 == id }
    items.removeAll { $0.id == id }
  }

  // MARK: The navigation

  func add() { destination = .edit(Item(id: (items.map(\.id).max() ?? 0) + 1, name: "", count: 1)) }

  func askToDelete(_ item: Item) {
    destination = .delete(
      Dialog("Delete “\(item.name)”?") {
        Dialog.Button("Cancel", role: .cancel)
        Dialog.Button("Delete", role: .destructive, action: item.id)
      })
  }

  /// A deep link: the tab, the page and the sheet are there at once.
  func edit(_ item: Item) { (tab, path, destination) = (.items, [item.id], .edit(item)) }
}
