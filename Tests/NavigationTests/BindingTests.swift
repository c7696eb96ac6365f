import Observation
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable {
    var id: Int
    var text = ""
  }
  enum Destination: Hashable {
    case edit(Note)
    case confirm(Int)
  }
  var count = 0
  var note: Note?
  var notes = [Note(id: 0), Note(id: 1), Note(id: 2)]
  var selection: String?
  var destination: Destination?
  var shape = Destination.confirm(1)
  struct Child: Hashable { var note: Note? }
  var child: Child?
}

private let edit = EnumCase("edit", { Model.Destination.edit($0) }) {
  if case .edit(let note) = $0 { note } else { nil }
}

/// Bindings: their equality, their names on the bus, and the values that they read and write.
@Suite @MainActor struct BindingTests {
  @Test("B2: two bindings are equal if they refer to the same state") func binding_sameRoute_isEqual() {
    let (one, two) = (Bindable(Model()), Bindable(Model()))
    #expect(one.note == Bindable(one.wrappedValue).note)
    #expect(one.note != two.note)
    #expect(one.notes[1].text == one.notes[1].text)
    #expect(one.notes[1].text != one.notes[2].text)
    #expect(Set([one.count, one.count, two.count]).count == 2)
    one.wrappedValue.note = .init(id: 1)
    // The equality does not depend on the values.
    #expect(one.note.hashValue == Bindable(one.wrappedValue).note.hashValue)
  }

  @Test("An optional member of an optional is one optional, and writing nil to it keeps the value that has the member")
  func member_optionalOfAnOptional_isOneOptional() {
    let model = Model()
    let note: Binding<Model.Note?> = Bindable(model).child.note
    note.wrappedValue = .init(id: 1)
    #expect(note.wrappedValue == nil)
    model.child = .init(note: .init(id: 2))
    #expect(note.wrappedValue == .init(id: 2))
    note.wrappedValue = nil
    #expect(model.child == .init(note: nil))
    let id: Binding<Int?> = Bindable(model).child.note.id
    #expect(id.wrappedValue == nil)
  }

  @Test("The binding of an array is a sequence of the bindings of its elements")
  func elements_ofAnArray_areBindings() {
    let model = Model()
    let notes = Bindable(model).notes
    for note in notes { note.text.wrappedValue = "\(note.id.wrappedValue)" }
    #expect(model.notes.map(\.text) == ["0", "1", "2"])
    #expect(notes.count == 3 && notes.last?.text.wrappedValue == "2")
    #expect(Array(notes) == [notes[0], notes[1], notes[2]])
  }

  @Test("A loop over the bindings of elements may remove elements")
  func elements_removedInALoop_endIt() {
    let model = Model()
    var count = 0
    for note in Bindable(model).notes {
      count += 1
      note.text.wrappedValue = "visited"
      model.notes = []
    }
    #expect(count == 1)
  }

  @Test("B1, B3: the text of a binding on the bus follows from its route")
  func text_ofABinding_followsItsRoute() {
    let model = Model()
    let bindable = Bindable(model, .shared("counter"))
    func text<Value>(_ binding: Binding<Value>) -> String { binding.route.text(client: "1-7") }
    #expect(text(bindable.note.named("note")) == "counter.note")
    #expect(text(bindable.notes.named("notes")[2].text) == "counter.notes._2.text")
    #expect(text(bindable.note.named("note").text) == "counter.note.text")
    #expect(text(Binding(bindable.selection.named("selection"), tag: "wifi")) == "counter.selection.wifi")
    #expect(text(bindable.destination.named("destination").case(edit)) == "counter.destination.edit")
    let own = [Bindable(Model(), .own("counter")), Bindable(Model(), .own("counter"))]
    #expect(text(own[0].note.named("note")) == "counter-1-7.note")
    // The same name of another model is another root at this coordinator.
    let coordinator = Coordinator.embedded()
    #expect(
      own.map { coordinator.text(of: $0.note.named("note")) } == ["counter-embedded.note", "counter-embedded-2.note"])
    // Text that is not a valid name is replaced by a unique one.
    let tags = ["wi fi", "wi/fi", "日本"].map { text(Binding(bindable.selection.named("s"), tag: $0)) }
    #expect(Set(tags).count == 3)
  }

  @Test func member_written_changesTheModel() {
    let model = Bindable(Model())
    let text = model.notes[1].text
    text.wrappedValue = "new"
    #expect(model.wrappedValue.notes[1].text == "new")
    #expect(model.wrappedValue.notes.map(\.id) == [0, 1, 2])
  }

  @Test("The binding of an element keeps to the element when others are removed, added or moved")
  func element_otherIndex_isWrittenWhereItIs() throws {
    let model = Model()
    let notes = Bindable(model).notes
    let bindings = [notes[1], try #require(Binding(notes[id: 1]))] + notes.filter { $0.wrappedValue.id == 1 }
    let changes: [() -> Void] = [
      { model.notes.removeFirst() }, { model.notes.insert(.init(id: 7), at: 0) }, { model.notes.reverse() },
    ]
    for (round, change) in changes.enumerated() {
      change()
      for (number, note) in bindings.enumerated() {
        note.text.wrappedValue = "\(round) \(number)"
        #expect(model.notes.filter { !$0.text.isEmpty } == [.init(id: 1, text: "\(round) \(number)")])
        #expect(note.wrappedValue == .init(id: 1, text: "\(round) \(number)"))
      }
    }
  }

  @Test("The binding of the element with an id is nil without it, removes it, and keeps to it")
  func elementWithAnID_comesAndGoes() {
    let model = Model()
    let note = Bindable(model).notes[id: 2]
    #expect(note == Bindable(model).notes[id: 2] && note != Bindable(model).notes[id: 1])
    note.wrappedValue?.text = "a"
    #expect(model.notes == [.init(id: 0), .init(id: 1), .init(id: 2, text: "a")])
    note.wrappedValue = nil
    #expect(model.notes.map(\.id) == [0, 1] && note.wrappedValue == nil)
    note.wrappedValue = .init(id: 2)
    #expect(model.notes.map(\.id) == [0, 1])
    // An item whose screen has declined is there again.
    note.restore(.init(id: 2, text: "kept"))
    #expect(model.notes.last == .init(id: 2, text: "kept"))
    model.notes.insert(.init(id: 9), at: 0)
    note.text.wrappedValue = "b"
    #expect(model.notes.map(\.text) == ["", "", "", "b"])
  }

  @Test("A value with another id is written to no element, and reported") func element_otherID_isRefused() {
    let model = Model()
    let before = model.notes
    let notes = Bindable(model).notes
    #expect(MisuseLog.messages { notes[1].wrappedValue = .init(id: 2, text: "a") }.count == 1)
    #expect(MisuseLog.messages { notes[id: 1].wrappedValue = .init(id: 5) }.count == 1)
    #expect(model.notes == before)
  }

  @Test("A loop over the bindings of elements has each element that was there, once, even if it changes them")
  func elements_removedAndAddedInALoop_haveOneTurn() {
    let model = Model()
    var visited: [Int] = []
    for note in Bindable(model).notes {
      visited.append(note.wrappedValue.id)
      if visited.count == 1 {
        model.notes.removeFirst()
        model.notes.append(.init(id: 8))
      }
      note.text.wrappedValue = "visited"
    }
    #expect(visited == [0, 1, 2] && model.notes.map(\.text) == ["visited", "visited", ""])
  }

  @Test func index_afterTheElementIsGone_keepsTheLastValueAndWritesNothing() {
    let model = Bindable(Model())
    let last = model.notes[2]
    model.wrappedValue.notes.removeLast()
    #expect(last.wrappedValue.id == 2)
    last.wrappedValue.text = "late"
    #expect(model.wrappedValue.notes.map(\.text) == ["", ""])
  }

  @Test func unwrapped_afterNil_keepsTheLastValueAndWritesNothing() throws {
    let model = Bindable(Model())
    #expect(Binding(model.note) == nil)
    model.wrappedValue.note = .init(id: 1)
    let note = try #require(Binding(model.note))
    note.wrappedValue.text = "a"
    #expect(model.wrappedValue.note?.text == "a")
    model.wrappedValue.note = nil
    #expect(note.wrappedValue.text == "a")
    note.wrappedValue.text = "b"
    #expect(model.wrappedValue.note == nil && note.wrappedValue.text == "b")
    model.wrappedValue.note = .init(id: 2)
    #expect(note.wrappedValue.id == 2)
  }

  @Test func optional_setToNil_writesNothing() {
    let model = Bindable(Model())
    let count = Binding<Int?>(model.count)
    count.wrappedValue? += 1
    count.wrappedValue = nil
    #expect(model.wrappedValue.count == 1 && count.wrappedValue == 1)
  }

  @Test func presence_setToTrue_createsNothing() {
    let model = Bindable(Model())
    let isThere = Binding<Bool>(model.note)
    #expect(MisuseLog.messages { isThere.wrappedValue = true }.count == 1)
    #expect(model.wrappedValue.note == nil)
    model.wrappedValue.note = .init(id: 1)
    #expect(MisuseLog.messages { isThere.wrappedValue = true }.isEmpty)
    #expect(isThere.wrappedValue)
    isThere.wrappedValue = false
    #expect(model.wrappedValue.note == nil)
  }

  @Test("G3: the binding of a tag selects and clears it") func tag_written_selectsAndClears() {
    let model = Bindable(Model())
    let (wifi, volume) = (Binding(model.selection, tag: "wifi"), Binding(model.selection, tag: "volume"))
    wifi.wrappedValue = true
    #expect(model.wrappedValue.selection == "wifi" && !volume.wrappedValue)
    volume.wrappedValue = false
    #expect(model.wrappedValue.selection == "wifi")
    volume.wrappedValue = true
    #expect(!wifi.wrappedValue)
    volume.wrappedValue = false
    #expect(model.wrappedValue.selection == nil)
  }

  @Test func enumCase_whileAnotherIsPresent_writesNothing() {
    let model = Bindable(Model())
    let note = model.destination.case(edit)
    note.wrappedValue = .init(id: 1)
    #expect(model.wrappedValue.destination == nil)
    model.wrappedValue.destination = .edit(.init(id: 1))
    note.wrappedValue?.text = "a"
    #expect(model.wrappedValue.destination == .edit(.init(id: 1, text: "a")))
    model.wrappedValue.destination = .confirm(3)
    #expect(note.wrappedValue == nil)
    note.wrappedValue = nil
    #expect(model.wrappedValue.destination == .confirm(3))
    model.wrappedValue.destination = .edit(.init(id: 2))
    note.wrappedValue = nil
    #expect(model.wrappedValue.destination == nil)
  }

  @Test func enumCase_ofANonOptional_keepsTheLastValue() throws {
    let model = Bindable(Model())
    #expect(model.shape.case(edit) == nil)
    model.wrappedValue.shape = .edit(.init(id: 1))
    let note = try #require(model.shape.case(edit))
    note.wrappedValue.text = "a"
    #expect(model.wrappedValue.shape == .edit(.init(id: 1, text: "a")))
    model.wrappedValue.shape = .confirm(1)
    note.wrappedValue.text = "b"
    #expect(model.wrappedValue.shape == .confirm(1) && note.wrappedValue.text == "b")
  }

  @Test func optionalMember_setToNil_setsTheWholeToNil() {
    let model = Bindable(Model())
    let text = model.note.text
    text.wrappedValue = "nothing there"
    #expect(model.wrappedValue.note == nil && text.wrappedValue == nil)
    model.wrappedValue.note = .init(id: 1)
    text.wrappedValue = "a"
    #expect(model.wrappedValue.note?.text == "a")
    text.wrappedValue = nil
    #expect(model.wrappedValue.note == nil)
  }

  @Test func constant_written_isNotChanged() {
    let count = Binding.constant(1)
    count.wrappedValue = 2
    #expect(count.wrappedValue == 1)
  }

  @Test("B1: state without a model has a name on the bus") func ownState_onTheBus_isNamed() {
    @Binding(.shared("panel-state")) var isOpen = false
    $isOpen.wrappedValue = true
    #expect(isOpen && $isOpen.route.text(client: "1-7") == "panel-state")
  }

  @Test func ownState_derivedBindings_shareIt() {
    @Binding var note = Model.Note(id: 1)
    let text = $note.text
    text.wrappedValue = "a"
    #expect(note.text == "a")
  }

  @Test func binding_afterTheModelIsGone_keepsTheLastValue() {
    var model: Model? = Model()
    weak let observed = model
    let count = Bindable(model!).count
    count.wrappedValue = 5
    model = nil
    #expect(observed == nil && count.wrappedValue == 5)
    count.wrappedValue = 6
    #expect(count.wrappedValue == 6)
  }
}

/// Transactions of writes: which values they have, and how observers get them.
@Suite @MainActor struct TransactionTests {
  @Test func nested_areMerged_innerValuesWin() {
    #expect(Transaction.current.isEmpty && Transaction.current.haste == 1)
    withTransaction(\.haste, 2) {
      withTransaction(Transaction(animated: false)) {
        #expect(Transaction.current.haste == 2 && Transaction.current.animated == false)
        withTransaction(\.haste, 3) { #expect(Transaction.current.haste == 3) }
        #expect(Transaction.current.haste == 2)
      }
      #expect(Transaction.current.animated == nil)
    }
    #expect(Transaction.current.isEmpty)
  }

  @Test func binding_withTransaction_writesInIt() async {
    let box = Box(0)
    var seen: [Int] = []
    let binding = Binding(
      BindingRoute(root: .of(box, named: .own("box"))), read: { box.value },
      write: {
        box.value = $0
        seen.append(Transaction.current.haste)
      })
    var hasty = Transaction()
    hasty.haste = 7
    binding.wrappedValue = 1
    binding.transaction(hasty).wrappedValue = 2
    withTransaction(\.haste, 3) { binding.animated(false).wrappedValue = 3 }
    #expect(seen == [1, 7, 3])
  }

  @Test func derivedBinding_transaction_overridesThatOfItsBase() throws {
    let model = Model()
    var seen: [Bool?] = []
    func seeing(_ write: () -> Void) {
      withObservationTracking {
        _ = (model.note, model.notes, model.selection, model.destination, model.shape, model.count)
      } onChange: {
        MainActor.assumeIsolated { seen.append(Transaction.current.animated) }
      }
      write()
    }
    model.note = .init(id: 1)
    model.destination = .edit(.init(id: 1))
    model.shape = .edit(.init(id: 1))
    let bindable = Bindable(model)
    let unwrapped = try #require(Binding(bindable.note.animated()))
    let shape = try #require(bindable.shape.animated().case(edit))
    seeing { unwrapped.animated(false).wrappedValue.text = "a" }
    seeing { bindable.notes.animated()[1].animated(false).wrappedValue.text = "a" }
    seeing { Binding(bindable.selection.animated(), tag: "a").animated(false).wrappedValue = true }
    seeing { bindable.destination.animated().case(edit).animated(false).wrappedValue = .init(id: 2) }
    seeing { shape.animated(false).wrappedValue = .init(id: 2) }
    seeing { Binding<Int?>(bindable.count.animated()).animated(false).wrappedValue = 3 }
    seeing { Binding<Bool>(bindable.note.animated()).animated(false).wrappedValue = false }
    #expect(seen == Array(repeating: false, count: 7))
    // A value that is not overridden is inherited.
    seeing { bindable.notes.animated(false)[1].wrappedValue.text = "b" }
    #expect(seen.last == false)
  }

  @Test func observe_afterAChange_runsInItsTransaction() async {
    let model = Model()
    var seen: [Int] = []
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let observing = observe {
      _ = model.count
      seen.append(Transaction.current.haste)
      continuation.yield()
    }
    var iterator = changes.makeAsyncIterator()
    await iterator.next()
    withTransaction(\.haste, 4) { model.count = 1 }
    await iterator.next()
    #expect(seen == [1, 4])
    observing.cancel()
    model.count = 2
    for _ in 0..<10 { await Task.yield() }
    #expect(seen.count == 2)
  }

  @Test func observe_manyChanges_runOnce() async {
    let model = Model()
    var seen: [Int] = []
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let observing = observe {
      seen.append(model.count)
      continuation.yield()
    }
    var iterator = changes.makeAsyncIterator()
    await iterator.next()
    for count in 1...100 { model.count = count }
    await iterator.next()
    #expect(seen == [0, 100])
    withExtendedLifetime(observing) {}
  }
}
