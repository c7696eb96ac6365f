import Navigation

// The names of the model's parts on the bus. With the trait Macros of the package, the macros @Navigable and @Cases write them.

extension Inventory: Navigable {
  static let memberNames: MemberNames<Inventory> = [
    \.isOpen: "isOpen", \.items: "items", \.tab: "tab", \.path: "path", \.destination: "destination",
  ]
}

extension Inventory.Destination: HasCases {
  struct Cases {
    let edit = EnumCase("edit", Inventory.Destination.edit) { if case .edit(let item) = $0 { item } else { nil } }
    let delete = EnumCase("delete", Inventory.Destination.delete) {
      if case .delete(let dialog) = $0 { dialog } else { nil }
    }
    let help = EnumCase("help", { Inventory.Destination.help }) { if case .help = $0 { () } else { nil } }
  }
  static let cases = Cases()
}
