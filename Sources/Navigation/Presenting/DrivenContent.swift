import CoordinatorAPI
import DBusValues
import PresentationModel

/// A piece of optional state, with the ways to read, write and show it.
@MainActor
struct DrivenContent {
  /// The item that the state asks for.
  struct Wanted: Equatable {
    var id: String
    var options: PresentationOptions
    /// Writes the item back into the state.
    var putBack: @MainActor () -> Void = {}
    /// Handles an action of the user and its parameters; nil if the item has no actions (P8).
    var act: (@MainActor (String, Properties) -> Void)?

    static func == (one: Self, other: Self) -> Bool { one.id == other.id && one.options == other.options }
  }

  let route: BindingRoute
  let read: () -> Wanted?
  let clear: () -> Void
  /// Whether the state presents nothing, so that an item which has ended may be written back.
  let isVacant: () -> Bool
  /// Writes the item's value as edited by another client, unless the state has another item; nil if others cannot edit it.
  let edit: ((Properties) -> Bool)?
  /// Writes the item that another client has presented, with its id and its value.
  let adopt: (String, Properties) -> Void
  /// The items that other clients may present.
  let accepts: () -> ServedEntry
  /// Makes the screen of the current item, or no screen if the program cannot; nil if another destination presents it.
  let content: (() -> (any Screen)?)?
  /// The values of the items that screens show; nil if these have no bindings of the items.
  private(set) var screens: (any AnyObject & InheritingValues)?
  /// Called when the request to present the item was refused, or could not be sent.
  var onUnshown: (@MainActor () -> Void)?

  /// Writes the last of the items that other clients have requested.
  func adopt(_ items: [RequestedEntry]) {
    if let last = items.last { adopt(last.id ?? "", last.value ?? [:]) }
  }

  static func item<Item, ID: Hashable & Codable>(
    _ item: Binding<Item?>, id: @escaping (Item) -> ID, options: @escaping @MainActor (Item) -> PresentationOptions,
    to destination: String? = nil, content: ((Binding<Item>) -> (any Screen)?)? = nil,
    onAction: (@MainActor (Item, String, Properties) -> Void)? = nil
  ) -> DrivenContent {
    let (unencodableID, unencodableValue) = (OneReport(), OneReport())
    let screens = ScreenValues<Item>()
    // NaN does not equal itself, but has the same text.
    func isSame(_ one: ID, _ other: ID) -> Bool { one == other || Coding.id(of: one) {} == Coding.id(of: other) {} }
    var edit: ((Properties) -> Bool)?
    if let type = Item.self as? any Decodable.Type {
      edit = { properties in
        // Others cannot change the item's identity (D8).
        guard let current = item.wrappedValue, let value = Coding.value(type, of: properties) as? Item,
          isSame(id(value), id(current))
        else { return false }
        item.wrappedValue = value
        return true
      }
    }
    var driven = DrivenContent(
      route: item.route,
      read: {
        item.wrappedValue.map { value in
          var options = options(value)
          options.destination = options.destination ?? destination
          let isSent = item.isPublished || content == nil || options.destination != nil
          if isSent, options.value == nil, let value = value as? any Encodable {
            options.value = Coding.properties(of: value)
            if options.value == nil {
              options.value = [:]
              unencodableValue.send(
                "a \(Item.self) at “\(item.route.description)” is presented without a value, since it cannot be encoded, or has "
                  + "a null, which D-Bus cannot; leave nil out when it is encoded, or give another value in the options",
                of: item.route.root)
            }
          }
          let identity = id(value)
          let text = Coding.id(of: identity) {
            unencodableID.send(
              "the id of a \(Item.self) at “\(item.route.description)” cannot be encoded; its description in Swift is used, "
                + "which other programs may not know", of: item.route.root)
          }
          screens.sees(value, id: text)
          var wanted = Wanted(id: text, options: options) {
            item.restore(screens.last(of: text) { isSame(id($0), identity) } ?? value)
          }
          if let onAction { wanted.act = { onAction(value, $0, $1) } }
          return wanted
        }
      },
      clear: { item.wrappedValue = nil }, isVacant: item.isVacant ?? { item.wrappedValue == nil }, edit: edit,
      adopt: { text, properties in
        if let nothing = () as? Item { return item.restore(nothing) }
        guard let type = Item.self as? any Decodable.Type, let value = Coding.value(type, of: properties) as? Item,
          Coding.id(of: id(value), unencodable: {}) == text
        else { return }
        item.restore(value)
      },
      accepts: { ServedEntry(of: Item.self, id: ID.self) },
      content: content.map { content in
        {
          item.wrappedValue.flatMap { value in
            let shown = id(value)
            let last = screens.shows(value, id: Coding.id(of: shown) {})
            return content(Binding(item, last: last) { isSame(id($0), shown) })
          }
        }
      })
    driven.screens = screens
    return driven
  }

  static func bool(
    _ isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions,
    to destination: String? = nil, content: (@MainActor () -> (any Screen)?)? = nil
  ) -> DrivenContent {
    DrivenContent(
      route: isPresented.route,
      read: {
        guard isPresented.wrappedValue else { return nil }
        var options = options()
        options.destination = options.destination ?? destination
        return Wanted(id: "", options: options) { isPresented.restore(true) }
      },
      clear: { isPresented.wrappedValue = false }, isVacant: isPresented.isVacant ?? { !isPresented.wrappedValue },
      edit: nil, adopt: { _, _ in isPresented.restore(true) },
      accepts: { ServedEntry(of: Bool.self) },
      content: content.map { content in { content() } })
  }
}

/// Values that are passed on to a later presence of the same state.
@MainActor
protocol InheritingValues {
  func inherit(from former: AnyObject)
}

/// The last values of the items that screens show, by the texts of their ids. A screen may write a value after the last time that the
/// driver reads the state, even while the state does not contain the item.
@MainActor
private final class ScreenValues<Item>: InheritingValues {
  private struct Value { weak var last: Last<Item>? }
  private var values: [String: Value] = [:]

  /// Returns the last value for the binding of a new screen of an item.
  func shows(_ item: Item, id: String) -> Last<Item> {
    values = values.filter { $0.value.last != nil }
    let last = Last(item)
    values[id] = Value(last: last)
    return last
  }

  /// Takes over the values of screens that were made for an earlier presence of the same state.
  func inherit(from former: AnyObject) {
    guard let former = former as? Self else { return }
    values.merge(former.values) { last, _ in last }
  }

  /// Notes the value that the state has now.
  func sees(_ item: Item, id: String) { values[id]?.last?.value = item }

  /// The last value of an item's screen; nil if there is no screen, or it has made another item of it.
  func last(of id: String, where isSame: (Item) -> Bool) -> Item? {
    values[id]?.last.flatMap { isSame($0.value) ? $0.value : nil }
  }
}
