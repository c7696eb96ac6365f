// Why this file exists: who only asks for something does not wait for it, but wants to hear of what is known at once: that it
// could not even be started.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import TextFormats

extension Daemon {
  /// How presentations have ended, of those that have by now.
  ///
  /// All are asked for together, and nothing is waited for: what has ended is answered at once, so before the question
  /// that is asked after it.
  func endings(of presentations: [ObjectPath]) throws(Failure) -> [ObjectPath: Ending] {
    guard !presentations.isEmpty else { return [:] }
    var endings: [ObjectPath: Ending] = [:]
    let calls = presentations.map { presentation in
      connection.call(
        CoordinatorInterface.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (presentation, "gone"),
        timeout: nil, autoStart: false
      ) {
        if case .success(let (reason, result)) = $0 { endings[presentation] = Ending(reason: reason, result: result) }
      }
    }
    var failure: DBusError?
    connection.call(
      Peer.ping, on: CoordinatorNames.bus, at: CoordinatorNames.object, (), timeout: rest ?? defaultTimeout,
      autoStart: false
    ) { [loop] in
      if case .failure(let error) = $0 { failure = error }
      loop.stop()
    }
    loop.run()
    for call in calls { call.cancel() }
    if let failure { throw Failure(what, failure) }
    return endings
  }

  /// Tells of a presentation that failed as soon as it was to be shown. A program is started right after the request is
  /// answered, so that by the next question it is known whether it could be.
  /// - Throws: `Failure` with the reason. What waits before it is shown is not waited for, and what was shown and crashed
  ///   since is left out: it would depend on who is faster.
  func requireStart(of presentation: ObjectPath) throws(Failure) {
    guard presentation != .root, let ending = try endings(of: [presentation])[presentation],
      ending.reason == "failed", let error = ending.error
    else { return }
    throw Failure(what, error)
  }

  /// The same, of a member of a group whose presentation the answer does not name.
  /// - Parameter serial: that of the answer.
  func requireStart(in group: String, after serial: UInt64) throws(Failure) {
    let filter: Properties = ["group": .string(group), "reason": .string("failed")]
    guard let ending = try ask(CoordinatorInterface.history, (1, filter)).first.map({ JSON($0) }),
      let ended = ending["serial"]?.unsigned, ended > serial, let number = ending["presentation"]?.unsigned
    else { return }
    try requireStart(of: CoordinatorNames.presentation(number))
  }
}
