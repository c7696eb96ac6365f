import DBusValues
import PresentationModel
import Testing

@testable import CoordinatorCore

/// Waiting calls: which events answer them, how they are counted, and how they are forgotten.
@Suite struct WaitersTests {
  private typealias WaitCall = ScriptedCall<(String, Properties)>
  private let anna = Client("anna")
  private let berta = Client("berta")
  private let one = Handle(1)
  private let two = Handle(2)

  private func reason(_ call: WaitCall) -> String? {
    if case .success(let output) = call.result { output.0 } else { nil }
  }

  @Test("The phase presented answers the calls that wait for it, and the end answers all others")
  func waiters_presentedAndEnded_answerByPhase() throws {
    var waiters = Waiters()
    let calls = (shown: WaitCall(anna), gone: WaitCall(anna), other: WaitCall(anna))
    waiters.add(calls.shown, for: one, until: .presented)
    waiters.add(calls.gone, for: one, until: .gone)
    waiters.add(calls.other, for: two, until: .presented)
    waiters.presented(one)
    #expect(reason(calls.shown) == "" && calls.gone.result == nil && calls.other.result == nil)
    waiters.ended(one, .closed, ["status": .int32(3)])
    let (reason, result) = try calls.gone.output()
    #expect(reason == "closed" && result == ["status": .int32(3)])
    // A presentation may end without having been presented.
    waiters.ended(two, .failed, [:])
    #expect(try calls.other.output().0 == "failed")
    // A second event finds no waiting call.
    waiters.presented(one)
    waiters.ended(one, .closed, [:])
  }

  @Test("The calls of each client are counted, whatever ends them")
  func waiters_addedAndAnswered_areCountedByClient() {
    var waiters = Waiters()
    let given = WaitCall(anna)
    waiters.add(given, for: one, until: .gone)
    waiters.add(WaitCall(anna), for: one, until: .presented)
    waiters.add(WaitCall(anna), for: two, until: .gone)
    waiters.add(WaitCall(berta), for: one, until: .gone)
    #expect(waiters.count(of: anna) == 3 && waiters.count(of: berta) == 1)
    waiters.presented(one)
    #expect(waiters.count(of: anna) == 2)
    let wasWaiting = waiters.remove(given)
    #expect(wasWaiting)
    #expect(waiters.count(of: anna) == 1)
    waiters.ended(one, .closed, [:])
    #expect(waiters.count(of: anna) == 1 && waiters.count(of: berta) == 0)
    waiters.ended(two, .closed, [:])
    #expect(waiters.count(of: anna) == 0)
  }

  @Test("A client that left is forgotten; the calls of others wait on")
  func waiters_clientForgotten_keepsTheOthers() {
    var waiters = Waiters()
    let (annas, bertas) = ([WaitCall(anna), WaitCall(anna), WaitCall(anna)], WaitCall(berta))
    waiters.add(annas[0], for: one, until: .gone)
    waiters.add(annas[1], for: one, until: .presented)
    waiters.add(annas[2], for: two, until: .gone)
    waiters.add(bertas, for: one, until: .gone)
    waiters.forget(anna)
    #expect(annas.map(\.refusal?.code) == [.shuttingDown, .shuttingDown, .shuttingDown])
    #expect(waiters.count(of: anna) == 0 && bertas.result == nil)
    waiters.ended(one, .dismissed, [:])
    #expect(reason(bertas) == "dismissed")
    waiters.forget(anna)
  }

  @Test("A call that was given up is removed once, without an answer")
  func waiters_callRemoved_hasNoAnswer() {
    var waiters = Waiters()
    let (first, second) = (WaitCall(anna), WaitCall(anna))
    waiters.add(first, for: one, until: .gone)
    waiters.add(second, for: one, until: .gone)
    let removals = [waiters.remove(first), waiters.remove(first), waiters.remove(WaitCall(anna))]
    #expect(removals == [true, false, false])
    waiters.ended(one, .closed, [:])
    #expect(first.result == nil && reason(second) == "closed")
    let wasAnswered = !waiters.remove(second)
    #expect(wasAnswered)
  }

  @Test("R5: all calls are refused at once, and none is left")
  func waiters_allRefused_leaveNone() {
    var waiters = Waiters()
    let calls = [WaitCall(anna), WaitCall(berta), WaitCall(anna)]
    waiters.add(calls[0], for: one, until: .gone)
    waiters.add(calls[1], for: one, until: .presented)
    waiters.add(calls[2], for: two, until: .gone)
    waiters.refuseAll(Refusal(.shuttingDown, "navd is being stopped"))
    #expect(calls.allSatisfy { $0.refusal == Refusal(.shuttingDown, "navd is being stopped") })
    #expect(waiters.count(of: anna) == 0 && waiters.count(of: berta) == 0)
    waiters.ended(one, .closed, [:])
  }
}
