import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Presenters on the bus: calls and answers, reports, and presenters that leave or never answer (D4, D11).

private typealias Rows = CoordinatorInterface

@Test("D11: only the D-Bus presenter that shows an item may report it closed")
func closed_ofABusPresentersItem_isAllowedForThatPresenterOnly() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let watcher = try session.watch()
  let path = try session.present("fact", "1", ["destination": .string("dialog")])
  try session.wait("it is presented") { watcher.lines.last == "presented fact 1" }
  #expect(try session.refusal(Rows.closed, (path, [:]))?.name == .accessDenied)
  #expect(try session.refusal(Rows.act, (path, "pressed", [:]))?.name == .accessDenied)
  #expect(try session.call(Rows.get, "fact").0 == path)

  // The reports are announced in their order (P8).
  let act = session.begin(Rows.act, (path, "pressed", ["button": .string("ok")]), by: presenter.connection)
  let closed = session.begin(Rows.closed, (path, ["answer": .string("ok")]), by: presenter.connection)
  _ = try session.answer(to: act)
  #expect(try session.answer(to: closed).0)
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result == ["answer": .string("ok")])
  #expect(watcher.lines.suffix(2) == ["action fact 1 pressed", "dismissed fact 1 closed"])
  // The presenter reported the end itself, so Dismiss is not called.
  #expect(presenter.log == ["present fact 1"])
}

@Test("Closed and Act are refused for unknown handles and invalid arguments")
func closed_ofUnknownHandles_isRefused() throws {
  let session = try Session()
  for path in ["/", "/org/navd/Coordinator1/presentation/7", "/a/b"] as [ObjectPath] {
    #expect(try session.refusal(Rows.closed, (path, [:]))?.name == .unknownPresentation)
    #expect(try session.refusal(Rows.act, (path, "x", [:]))?.name == .unknownPresentation)
  }
  let path = try session.present("fact")
  #expect(try session.refusal(Rows.closed, (path, ["no name": .int32(1)]))?.name == .invalidArgument)
  #expect(try session.refusal(Rows.act, (path, "x", ["no name": .int32(1)]))?.name == .invalidArgument)
  #expect(try session.call(Rows.get, "fact").0 == path)
}

@Test("D4, D8: a D-Bus presenter receives Present, Update and Dismiss, and its answers take effect")
func closed_busPresenter_receivesCallsAndAnswers() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog", ["style": .string("alert")])
  presenter.isAnswering = false
  let watcher = try session.watch()
  let path = try session.present(
    "fact", "1", ["destination": .string("dialog"), "title": .string("T"), "value": ["n": Value.int32(1)].value])
  try session.wait("the presenter is called") { presenter.log == ["present fact 1"] }
  #expect(watcher.lines == ["phase fact 1 presenting"])
  try session.call(Rows.update, ("fact", ["n": .int32(2)], [:]))
  try session.call(Rows.update, ("fact", ["n": .int32(3)], [:]))
  presenter.isAnswering = true
  // The second update has the latest of both values, and comes after the presenter has answered.
  try session.wait("it is updated") { presenter.log == ["present fact 1", "update"] }
  let item = try #require(presenter.items.last)
  #expect(item["value"].flatMap { Properties(value: $0) } == ["n": .int32(3)])
  #expect(item["style"] == .string("alert"))
  #expect(item["title"] == .string("T"))
  // An update by the presenter is not sent back to it.
  try session.call(Rows.update, ("fact", ["n": .int32(4)], [:]), by: presenter.connection)
  try session.wait("the update is announced") { watcher.lines.filter { $0 == "updated fact 1" }.count == 3 }

  presenter.result = ["answer": .string("late")]
  try session.dismiss("fact", ["animated": .boolean(false)])
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result == ["answer": .string("late")])
  #expect(presenter.log == ["present fact 1", "update", "dismiss dismissed without animation"])

  presenter.refusal = DBusError(name: "org.example.Error.NoScreen", message: "no screen")
  let failed = try session.ending(of: session.present("fact", "2", ["destination": .string("dialog")]))
  #expect(failed.reason == "failed")
  #expect(failed.result["error"].flatMap { String(value: $0) }?.contains("no screen") == true)
}

@Test("D1, D4: when a presenter leaves the bus, its presentations end and its registration is removed")
func closed_busPresenterThatLeaves_endsWhatItShows() throws {
  let session = try Session(destinations: ["dialog": "style = \"sheet\"\n"])
  let presenter = try BusPresenter(session, destination: "dialog")
  let watcher = try session.watch()
  let path = try session.present("fact", "1", ["destination": .string("dialog")])
  try session.wait("it is presented") { watcher.lines.last == "presented fact 1" }
  presenter.connection.close()
  #expect(try session.ending(of: path).reason == "failed")
  // The former destination is used again: that of the file, without a presenter.
  let next = try session.present("fact", "2", ["destination": .string("dialog")])
  #expect(try session.call(Rows.wait, (next, "presented")).0 == "")
  #expect(try session.call(Rows.get, "fact").1["style"] == .string("sheet"))
}

@Test("D4, P14: if a presenter never answers, its item fails or ends within the destination's time limits")
func closed_busPresenterThatNeverAnswers_endsAfterTheTimeLimit() throws {
  let session = try Session()
  let presenter = try BusPresenter(
    session, destination: "dialog", ["start-timeout": .uint64(100), "grace": .uint64(100)])
  presenter.isAnswering = false
  let (reason, result) = try session.ending(of: session.present("fact", "1", ["destination": .string("dialog")]))
  #expect(reason == "failed")
  #expect(result["error"].flatMap { String(value: $0) }?.contains("start-timeout") == true)
  #expect(presenter.log == ["present fact 1", "dismiss failed forced"])
  #expect(try session.state()["presentations"]?.array == [])
}
