import Testing

@testable import CoordinatorDaemon

// The readings of windows from an adapter that is on the bus, and does not answer.

@Test("L1: an adapter that stays silent is asked twenty times in a week, since each question stays in the bus")
func windowReading_silentForAWeek_isRarelyAsked() {
  var reading = WindowReading()
  var (seconds, count) = (0, 0)
  while seconds < 7 * 24 * 3600 {
    let number = reading.begin()
    #expect(number != nil)
    seconds += 3 * reading.patience
    let isOutdated = reading.end()
    #expect(!isOutdated)
    reading.wasSilent()
    count += 1
  }
  #expect(count <= 20)
}
