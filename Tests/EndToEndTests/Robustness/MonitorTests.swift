import CoordinatorAPI
import DBusValues
import Glibc
import TestSupport
import Testing

// Monitors of the bus, which delay nobody (L2, W3).

private typealias Rows = CoordinatorInterface

@Test("L2, W3: a monitor of the bus delays nobody, and navd keeps nothing for one that does not read")
func monitor_ofTheBus_delaysNobody() throws {
  let session = try Session()
  let navd = try #require(session.navd?.processID)
  let honest = try HonestClient(session)
  let monitor = try session.start(program: "/usr/bin/busctl", ["--user", "monitor", CoordinatorNames.bus.text])
  let item: Properties = ["value": ["text": Value.string(String(repeating: "x", count: 60_000))].value]
  var updates = 0
  func update() throws {
    updates += 1
    try session.present("large", "\(updates)", item)
  }
  try session.poll("the monitor is attached") {
    try update()
    return !monitor.lines.isEmpty
  }
  monitor.isRead = false
  monitor.send(SIGSTOP)
  for _ in 0..<100 { try update() }
  let memory = Session.privateMemory(of: navd)
  let times = try honest.times { for _ in 0..<400 { try update() } }
  try honest.pause(session)
  monitor.send(SIGKILL)
  try session.wait("the monitor has ended") { monitor.status != nil }
  let without = try honest.times { for _ in 0..<400 { try update() } }
  let ratio = times.median / without.median
  print(
    """
    400 updates of 60 kB: an honest client's median × \(ratio) beside a monitor that does not read, longest \
    \(times.longest); memory \(memory >> 10) KiB, then \(Session.privateMemory(of: navd) >> 10) KiB
    """)
  expectSpeed(ratio <= 6)
  #expect(Session.privateMemory(of: navd) - memory < 8 << 20)
  try honest.stop(session)
}
