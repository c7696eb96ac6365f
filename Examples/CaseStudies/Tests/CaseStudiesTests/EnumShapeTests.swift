import Navigation
import NavigationTesting
import Observation
import Testing

// The shapes of enums in the documentation of swift-navigation, and in the tests of the macro of swift-case-paths.

/// A model whose destinations have types that only the model has, as everybody writes it.
@MainActor @Observable @Navigable
private final class Inventory {
  struct Item: Codable, Hashable, Identifiable {
    var id: Int
    var name = ""
  }
  enum Answer: String, Codable { case delete }

  @Cases
  enum Destination {
    case add(Item), edit(Item)
    case alert(Dialog<Answer>)
    case row(Row)
    case duplicate(original: Item, name: String)
    case help
  }

  @MainActor @Observable @Navigable
  final class Row: Identifiable {
    @Cases
    enum Destination {
      /// A type of the outer model.
      case edit(Item)
      case color(isPicked: Bool)
    }

    var destination: Destination?
  }

  var destination: Destination?
}

private struct Wrapper<Value> { var values: [Value] }

@Cases
private enum Shape {
  case plain
  case one(Int)
  case two(int: Int, string: String)
  case wild(_ int: Int, _ flag: Bool)
  case defaults(int: Int = 42, flag: Bool = true)
  case tuple((Int, String))
  case void(Void)
  case empty(())
  case function((Int) -> String)
  case optional(Int?)
  case array([Int]), dictionary([String: Int])
  case existential(any Error)
  indirect case nested(Shape)
  case own(Wrapper<Self>)
  case `default`, `in`(Int)
  /// A comment.
  case commented(
    // before
    Int  // behind
  )  // at the end
  #if os(Linux)
    case system(Int)
    #if DEBUG
      case debugged
    #endif
  #elseif os(macOS)
    case mac(String), otherMac
  #else
    case nowhere
  #endif

  var isPlain: Bool { self.is(\.plain) }
}

@Cases
private enum Loading<Value: Equatable> {
  case idle
  case loaded(Value)
  case failed(any Error)
}

@Cases
private enum Empty {}

@Cases
package enum Packaged { case one(Int) }

@Suite @MainActor struct EnumShapeTests {
  @Test func destination_nestedInItsModel_hasTheTypesOfTheModel() {
    let inventory = Inventory()
    let bindable = Bindable(inventory, .shared("inventory"))
    #expect(Coordinator.embedded().text(of: bindable.destination.edit) == "inventory.destination.edit")
    inventory.destination = .edit(.init(id: 1))
    bindable.destination.edit.name.wrappedValue = "Saw"
    #expect(inventory.destination?[case: \.edit]?.name == "Saw")
    inventory.destination = .duplicate(original: .init(id: 1), name: "Saw 2")
    bindable.destination.duplicate.name.wrappedValue = "Saw 3"
    #expect(inventory.destination?[case: \.duplicate]?.name == "Saw 3")
    let row = Inventory.Row()
    inventory.destination = .row(row)
    row.destination = .color(isPicked: false)
    row.destination?.modify(\.color) { $0 = true }
    #expect(row.destination.is(\.color) && row.destination?[case: \.color] == true)
    row.destination = .edit(.init(id: 2))
    switch Bindable(row).destination.cases {
    case .edit(let $item): $item.name.wrappedValue = "Hammer"
    case .color, nil: Issue.record("another case")
    }
    #expect(row.destination?[case: \.edit]?.name == "Hammer")
  }

  @Test(arguments: Kind.available) func destination_nestedInItsModel_isPresented(_ kind: Kind) async throws {
    let (inventory, navigator, display) = (Inventory(), try await kind.navigator(), Display())
    let destination = Bindable(inventory).destination
    navigator.present(item: destination.edit) { $item in RecordingScreen("edit \(item.id)", on: display) }
    navigator.present(dialog: destination.alert) { _, _ in
      inventory.destination = .help
    } content: { $dialog in
      RecordingScreen(dialog.title, on: display)
    }
    navigator.present(isPresented: Binding(destination.help)) { RecordingScreen("help", on: display) }
    inventory.destination = .edit(.init(id: 1))
    try await until { display.names == ["edit 1"] }
    let delete = Dialog.Button("Delete", role: .destructive, action: Inventory.Answer.delete)
    inventory.destination = .alert(Dialog("Delete?") { delete })
    try await until { display.names == ["Delete?"] }
    try await display["Delete?"]?.showing?.choose(delete)
    try await until { display.names == ["help"] }
    await navigator.coordinator.close()
  }

  @Test func shapes_ofPayloads_areReadAndWritten() throws {
    @Binding var shape: Shape? = .plain
    #expect(shape?.isPlain == true && $shape.plain.wrappedValue != nil)
    shape = .one(1)
    $shape.one.wrappedValue? += 1
    #expect(shape?[case: \.one] == 2)
    shape = .two(int: 1, string: "a")
    $shape.two.string.wrappedValue = "b"
    #expect(shape?[case: \.two]?.string == "b")
    shape = .wild(1, false)
    shape?.modify(\.wild) { $0.1 = true }
    #expect(shape?[case: \.wild]?.1 == true)
    shape = .defaults()
    #expect(shape?[case: \.defaults]?.int == 42)
    shape = .tuple((1, "a"))
    shape?.modify(\.tuple) { $0.1 = "b" }
    #expect(shape?[case: \.tuple]?.1 == "b")
    for value in [Shape.void(()), .empty(())] {
      shape = value
      #expect(shape.is(\.void) != shape.is(\.empty))
    }
    shape = .function { "\($0)" }
    #expect(shape?[case: \.function]?(3) == "3")
    shape = .optional(nil)
    #expect(shape.is(\.optional) && shape?[case: \.optional] == .some(nil))
    shape = .array([1])
    $shape.array.wrappedValue?.append(2)
    #expect(shape?[case: \.array] == [1, 2])
    shape = .existential(CancellationError())
    #expect(shape?[case: \.existential] is CancellationError)
    shape = .nested(.one(1))
    shape?.modify(\.nested) { $0.modify(\.one) { $0 += 1 } }
    #expect(shape?[case: \.nested]?[case: \.one] == 2)
    shape = .own(Wrapper(values: [.plain]))
    #expect(shape?[case: \.own]?.values.first?.isPlain == true)
    shape = .in(1)
    $shape.in.wrappedValue = 2
    #expect(shape?[case: \.in] == 2 && !shape.is(\.default))
    shape = .commented(1)
    #expect(shape.is(\.commented))
    shape = .system(4)
    switch $shape.cases {
    case .system(let $number): $number.wrappedValue += 1
    default: Issue.record("another case")
    }
    #expect(shape?[case: \.system] == 5)
  }

  @Test func enum_generic_hasCases() {
    @Binding var loading = Loading<[Int]>.idle
    #expect($loading.loaded == nil && loading.is(\.idle))
    loading = .loaded([1])
    $loading.loaded?.wrappedValue.append(2)
    #expect(loading[case: \.loaded] == [1, 2])
    guard case .loaded(let numbers) = $loading.cases else { return #expect(Bool(false)) }
    #expect(numbers.wrappedValue == [1, 2])
  }
}
