import Observation
import Testing

@testable import Navigation

@Observable
private final class Model {
  var text = ""
  var other = 0
}

/// An actor other than the main one, with a model of its own.
private actor Reader {
  let model = Model()
  var seen: [String] = []
  var observing: Observing?

  func observeChanges() async -> [String] {
    observing = observe {
      self.assertIsolated()
      self.seen.append(self.model.text)
    }
    model.text = "a"
    model.text = "b"
    await Task.yield()
    let afterOneTurn = seen
    model.text = "c"
    observing?.cancel()
    for _ in 1...100 { await Task.yield() }
    #expect(seen == afterOneTurn, "nothing runs after it was cancelled")
    return afterOneTurn
  }
}

/// An actor that observes a model of others.
private actor Visitor {
  func observeText(of model: Model) -> Observing { observe { _ = model.text } }
}

extension Model: @unchecked Sendable {}

extension Transaction {
  fileprivate var isLoud: Bool {
    get { self[IsLoud.self] }
    set { self[IsLoud.self] = newValue }
  }
}

private enum IsLoud: TransactionKey { static let defaultValue = false }

/// Observing of changes, on the main actor and on others.
@Suite @MainActor struct ObservingTests {
  @Test("Changes are observed one turn later, once for several in a turn, in their transaction")
  func observe_changes_runsInTheNextTurn() async {
    let model = Model()
    var seen: [String] = []
    let observing = observe { seen.append("\(model.text) \(Transaction.current.isLoud)") }
    #expect(seen == [" false"])
    model.text = "a"
    withTransaction(\.isLoud, true) { model.text = "b" }
    await Task.yield()
    #expect(seen == [" false", "b false"])
    withTransaction(\.isLoud, true) { model.text = "c" }
    model.other = 1
    await Task.yield()
    #expect(seen.dropFirst(2) == ["c true"])
    model.text = "d"
    observing.cancel()
    for _ in 1...100 { await Task.yield() }
    #expect(seen.count == 3)
  }

  @Test("Changes are observed on any actor, one turn later")
  func observe_onAnotherActor_runsThere() async {
    #expect(await Reader().observeChanges() == ["", "b"])
  }

  @Test("An observation ends when its handle is released")
  func observe_released_ends() async {
    let model = Model()
    var count = 0
    var observing: Observing? = observe {
      _ = model.text
      count += 1
    }
    #expect(observing != nil)
    observing = nil
    model.text = "a"
    for _ in 1...100 { await Task.yield() }
    #expect(count == 1)
  }

  @Test("An observation that has ended leaves nothing with its model, whose properties may never change")
  func observe_ended_isReleased() async {
    let model = Model()
    for isCancelled in [true, false] {
      weak var visitor: Visitor?
      var observing: Observing?
      do {
        let one = Visitor()
        visitor = one
        observing = await one.observeText(of: model)
      }
      #expect(visitor != nil)
      if isCancelled { observing?.cancel() } else { observing = nil }
      for _ in 1...1000 where visitor != nil { await Task.yield() }
      #expect(visitor == nil)
    }
  }

  @Test("A tracking that was followed by another one, or whose driver is gone, leaves nothing with its model")
  func tracking_ended_isReleased() {
    final class Probe: Sendable {}
    let model = Model()
    var noted: NotedTransaction? = NotedTransaction()
    func track() -> () -> Probe? {
      let probe = Probe()
      let tracking = noted?.tracking { _ = probe }
      #expect(tracking?.begin { model.text } == "")
      return { [weak probe] in probe }
    }
    let first = track()
    #expect(first() != nil)
    let second = track()
    #expect(first() == nil && second() != nil)
    noted = nil
    #expect(second() == nil)
  }
}
