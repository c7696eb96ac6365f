// What navd-windows offers of wlr-foreign-toplevel-management only after a compositor was seen to do it.

import CoordinatorAPI
import DBusValues
import PresentationModel
import TestSupport
import Testing

private typealias Rows = WindowSystemInterface

extension RunningAdapter {
  fileprivate var capabilities: [String]? { [String](value: properties["Capabilities"] ?? .string("")) }
}

@Test("Of wlr, outputs of windows are offered once a window was told to be on one")
private func windows_ofWlrOnNoOutput_offerNone() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  try compositor.tell("window = opened('one')")
  _ = try adapter.open("fake", "one")
  #expect(adapter.properties["Outputs"] == ["FAKE-1"].value)
  #expect(adapter.capabilities == ["close", "focus"])
  #expect(adapter.windows.map(\.properties.output) == [nil])
  try compositor.tell("entered(window)")
  try adapter.wait("outputs are offered") { adapter.capabilities == ["close", "output", "focus"] }
  try adapter.wait("its output is told") { adapter.windows.map(\.properties.output) == ["FAKE-1"] }
}

@Test("Of wlr, hiding is offered once a window was told to be minimized")
private func windows_ofWlrMinimized_offerHiding() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  try compositor.tell("first = opened('one')", "entered(first)", "second = opened('two')")
  _ = try adapter.open("fake", "two")
  let window = try adapter.open("fake", "one")
  #expect(try adapter.refusal(Rows.hide, window.id) == .notSupported)
  #expect(adapter.windows.map(\.properties.hidden) == [nil, nil])

  // Its user minimizes another one.
  try compositor.tell("minimized(second, True)")
  try adapter.wait("hiding is offered") { adapter.capabilities?.contains("hide") == true }
  try adapter.wait("what is hidden is told") { adapter.windows.map(\.properties.hidden) == [false, true] }
  try adapter.call(Rows.hide, window.id)
  try adapter.wait("it is hidden") {
    adapter.window("fake", "one")?.properties.hidden == true && adapter.window("fake", "one")?.properties.output == ""
  }
  try adapter.call(Rows.show, window.id)
  try adapter.wait("it is shown") {
    adapter.window("fake", "one")?.properties.hidden == false
      && adapter.window("fake", "one")?.properties.output == "FAKE-1"
  }
  try compositor.tell("minimized(second, False)")
  try adapter.wait("nothing is hidden") { adapter.windows.map(\.properties.hidden) == [false, false] }
  #expect(adapter.capabilities?.contains("hide") == true && adapter.isGapless)
}
