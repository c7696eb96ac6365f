import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TextFormats

/// A presenter on the bus that writes a line of JSON for each call, and reads a line for each answer and report.
///
/// It keeps no more data than navd has asked for: an update, and any automatic answer, is answered once the reader has taken its line.
/// It keeps few reports of its program: a program that writes more than navd answers has to wait.
final class LinePresenter {
  /// The answers that the presenter gives without its program.
  struct Automatic {
    var presents = false
    /// The milliseconds from the call to its answer; nil if the program answers.
    var dismissesAfter: UInt64?
  }

  private struct Showing {
    var presenting: Call<Void>?
    var dismissing: [(call: Call<Properties>, isForced: Bool)] = []
    /// Whether an earlier navd asked to dismiss the presentation. The next navd will ask again.
    var isToBeDismissed = false
  }

  private let daemon: DaemonClient
  private let writer: LineWriter
  private let automatic: Automatic
  /// The presentations that are shown or to be shown, by number.
  private var showings: [UInt64: Showing] = [:]
  /// The results of the presentations that have ended.
  private let results: KeptResults
  /// Called with true when too many reports are unanswered for more lines to be read, and with false when there is room again.
  var onBusy: ((Bool) -> Void)?
  private static let maxUnanswered = 64
  /// The number of calls that navd has not answered, and the size in bytes of the lines that they report.
  private var unanswered = (count: 0, size: 0) {
    didSet {
      let isBusy = unanswered.count >= Self.maxUnanswered || unanswered.size >= LineInput.maxLine
      if isBusy != self.isBusy { onBusy?(isBusy) }
      self.isBusy = isBusy
    }
  }
  private var isBusy = false
  /// Called when the reader has taken all lines.
  private var whenRead: [(LinePresenter) -> Void] = []

  init(_ daemon: DaemonClient, _ writer: LineWriter, _ automatic: Automatic) {
    self.daemon = daemon
    self.writer = writer
    self.automatic = automatic
    results = KeptResults(daemon.connection)
    writer.onDrained = { [weak self] in self?.readerHasAll() }
  }

  private func readerHasAll() {
    let calls = whenRead
    whenRead = []
    for call in calls { call(self) }
  }

  // MARK: Registration

  /// Registers the destinations with this navd and every later one.
  /// - Parameter served: what others may present at bindings that the first destination shows (D18).
  /// - Throws: `Failure` if navd refuses, or cannot be started.
  func serve(
    _ destinations: [String], _ options: Properties, _ served: [Structure<String, Properties>],
    onRefused: @escaping (DBusError) -> Void
  ) throws(Failure) {
    let registrations = destinations.enumerated().map { index, name in
      (name, ObjectPath("/presenter/\(index)") ?? .root, options)
    }
    for (name, path, _) in registrations { daemon.connection.export(path, [object(for: name)]) }
    for registration in registrations { try daemon.call(CoordinatorInterface.registerPresenter, registration) }
    let serving = served.isEmpty ? nil : destinations.first.map { ($0, served) }
    if let serving { _ = try daemon.call(CoordinatorInterface.serve, serving) }
    var isFirst = true
    _ = daemon.connection.watchName(CoordinatorNames.bus) { [unowned self] owner in
      defer { isFirst = false }
      guard owner != nil else {
        // The answers are not awaited any more; the next navd asks again.
        for (number, showing) in showings {
          showings[number] = Showing(isToBeDismissed: showing.isToBeDismissed || !showing.dismissing.isEmpty)
        }
        return
      }
      guard !isFirst else { return }
      for registration in registrations {
        call(CoordinatorInterface.registerPresenter, registration) { if let error = $0 { onRefused(error) } }
      }
      if let serving { call(CoordinatorInterface.serve, serving) { if let error = $0 { onRefused(error) } } }
    }
  }

  /// - Parameter size: the size in bytes of the line that is reported.
  private func call<Input, Output>(
    _ method: Method<Input, Output>, at path: ObjectPath = CoordinatorNames.object, _ input: Input, size: Int = 0,
    _ completion: @escaping (DBusError?) -> Void
  ) {
    unanswered.count += 1
    unanswered.size += size
    daemon.connection.call(method, on: CoordinatorNames.bus, at: path, input, timeout: nil, autoStart: false) {
      [weak self] in
      self?.unanswered.count -= 1
      self?.unanswered.size -= size
      if case .failure(let error) = $0 { completion(error) } else { completion(nil) }
    }
  }

  // MARK: Calls

  private func object(for destination: String) -> ImplementedInterface {
    let object = ImplementedInterface(PresenterInterface.interface, calledBy: CoordinatorNames.bus)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      let number = CoordinatorNames.number(of: input.0) ?? 0
      if let result = results.take(number), StateEntry(input.3).restored == true {
        // The restarted navd assumes that the presentation is shown, and gets the result that it
        // has missed.
        call.reply()
        return close(number, result) { _ in }
      }
      showings[number, default: Showing()].presenting = call
      showings[number]!.isToBeDismissed = false
      if automatic.presents { whenRead.append { $0.presented(number) } }
      say(
        "present", number,
        [
          "binding": .string(input.1), "id": .string(input.2), "destination": .string(destination),
          "item": JSON(input.3),
        ])
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      whenRead.append { _ in call.reply() }
      say("update", CoordinatorNames.number(of: input.0) ?? 0, ["item": JSON(input.1)])
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      let number = CoordinatorNames.number(of: input.0) ?? 0
      // The program may have reported the end already.
      guard showings[number] != nil else {
        return results.answer(call, with: results.take(number) ?? [:], of: number)
      }
      let options = DismissalOptions(input.2)
      showings[number]!.dismissing.append((call, options.forced ?? false))
      if let time = automatic.dismissesAfter {
        whenRead.append { presenter in
          presenter.daemon.loop.timer(after: .milliseconds(time), of: presenter) { $0.dismissed(number, [:]) }
        }
      }
      say(
        "dismiss", number,
        [
          "reason": .string(input.1), "animated": .boolean(options.animated ?? true),
          "forced": .boolean(options.forced ?? false),
        ])
    }
    return object
  }

  private func say(_ call: String, _ presentation: UInt64, _ members: [String: JSON]) {
    let line = members.merging(["call": .string(call), "presentation": JSON(presentation)]) { $1 }
    writer.write(JSON.object(line).text)
  }

  // MARK: Answers

  /// Handles a line of the program.
  /// - Parameter fail: reports a mistake, perhaps later, after navd's answer.
  func take(_ bytes: [UInt8], fail: @escaping (String) -> Void) {
    let line: PresenterLine
    do {
      line = try PresenterLine(try JSON.parse(bytes))
    } catch let mistake as JSON.Mistake {
      return fail("byte \(mistake.position.column): \(mistake.why)")
    } catch {
      return fail((error as? JSON.Mismatch)?.why ?? "\(error)")
    }
    let number = line.presentation
    guard showings[number] != nil else { return fail("presentation \(number) is not shown here") }
    let path = CoordinatorNames.presentation(number)
    let report: (DBusError?) -> Void = { [daemon] in
      if let error = $0 { fail(Failure(daemon.operation, error).why) }
    }
    var isExpected = true
    switch line.content {
    case .presented: isExpected = presented(number)
    case .failed(let error): isExpected = failed(number, error)
    case .dismissed(let result): isExpected = dismissed(number, result)
    case .declined(let message): isExpected = declined(number, message, fail)
    case .asking(let message): call(CoordinatorInterface.asking, (path, message), size: bytes.count, report)
    case .closed(let result):
      // The presentation is gone, so every open call of navd is answered.
      close(number, result, size: bytes.count, report)
      for (call, _) in showings.removeValue(forKey: number)?.dismissing ?? [] { call.reply(result) }
    case .act(let action, let parameters):
      call(CoordinatorInterface.act, (path, action, parameters), size: bytes.count, report)
    case .update(let value): call(PresentationInterface.update, at: path, (value, [:]), size: bytes.count, report)
    }
    if !isExpected { fail("navd has not asked for this answer about presentation \(number)") }
  }

  /// Reports that a presentation is closed. If navd is away, the next one gets the report.
  private func close(_ number: UInt64, _ result: Properties, size: Int = 0, _ report: @escaping (DBusError?) -> Void) {
    results.keep(result, of: number)
    call(CoordinatorInterface.closed, (CoordinatorNames.presentation(number), result), size: size) {
      [weak self] error in
      if let error, DaemonClient.isRestart(error) { return }
      self?.results.forget(number)
      report(error)
    }
  }

  @discardableResult
  private func presented(_ number: UInt64) -> Bool {
    guard let call = showings[number]?.presenting else { return false }
    showings[number]!.presenting = nil
    call.reply()
    return true
  }

  private func failed(_ number: UInt64, _ error: String) -> Bool {
    guard let call = showings[number]?.presenting else { return false }
    showings[number] = nil
    call.fail(DBusError(name: .failed, message: error))
    return true
  }

  @discardableResult
  private func dismissed(_ number: UInt64, _ result: Properties) -> Bool {
    guard let showing = showings[number], showing.isToBeDismissed || !showing.dismissing.isEmpty else { return false }
    showings[number] = nil
    if showing.dismissing.isEmpty { results.keep(result, of: number) }
    for (call, _) in showing.dismissing { results.answer(call, with: result, of: number) }
    return true
  }

  private func declined(_ number: UInt64, _ message: String, _ fail: (String) -> Void) -> Bool {
    guard let calls = showings[number]?.dismissing, !calls.isEmpty else { return false }
    let unforced = calls.filter { !$0.isForced }
    guard !unforced.isEmpty else {
      fail(
        "the dismissal of presentation \(number) is forced, so it cannot be declined; answer “dismissed” when it is gone"
      )
      return true
    }
    // A forced call may have followed; it has its own line, and so its own answer.
    showings[number]!.dismissing = calls.filter(\.isForced)
    for (call, _) in unforced { call.fail(DBusError(name: ErrorCode.declined.errorName, message: message)) }
    return true
  }
}
