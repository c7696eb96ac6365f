import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// A connection to navd, and the calls of the verbs. It subscribes to no signals and makes no call that a verb does not need.
final class DaemonClient {
  let loop: EventLoop
  let connection: Connection
  /// The verb and its main argument, for messages.
  let operation: String
  let global: GlobalOptions
  /// Whether the request raises windows. Its user hears of it if nothing raises any (N7).
  var raises = false
  /// The destination of the request; its user hears of a mistake in its file.
  var destination: String?
  /// The id of the request, if it is a word of its own; its user hears of a destination with that name.
  var word: String?
  private let deadline: EventLoop.Instant?

  init(_ global: GlobalOptions, _ operation: String) throws(Failure) {
    self.global = global
    self.operation = operation
    do throws(SystemError) { loop = try EventLoop() } catch { throw Failure(operation, error.description) }
    deadline = global.within.map { [loop] in loop.now + .milliseconds($0) }
    do throws(DBusError) {
      if let address = global.host?.address(within: global.within) ?? global.address {
        connection = try Connection.open(address: address, loop: loop)
      } else {
        connection = try Connection.session(loop: loop)
      }
    } catch {
      if let host = global.host { throw Failure(operation, host, error) }
      guard error.name != .authFailed else { throw Failure(operation, error.message, status: .unreachable) }
      let address = (global.address ?? (try? Connection.sessionAddress())).map { " " + quoted($0) } ?? ""
      throw Failure(
        operation, "cannot connect to the bus\(address): \(error.message)", hint: Failure.unreachableBus,
        status: .unreachable)
    }
  }

  /// Whether navd is on another machine, where this machine's displays and directories mean nothing.
  var isRemote: Bool { global.host != nil }

  /// The rest of the time given by `--within`; nil without it.
  var timeLeft: Duration? { deadline.map { max(.zero, $0 - loop.now) } }

  /// Calls a method that changes the state; the bus starts navd if it is not running.
  /// - Parameters:
  ///   - hint: a hint for a call that is refused with the code `refusal`; it receives the verb and its arguments.
  ///   - refusal: the refusal that the hint is for; by default, the one for an unknown destination.
  @discardableResult
  func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, hint: ((String) -> String)? = nil,
    for refusal: CoordinatorError.Name = .unknownDestination
  ) throws(Failure) -> Output {
    do throws(DBusError) { return try request(method, input, starts: true) } catch {
      var failure = Failure(operation, error, starts: true)
      // “Did you mean …?” is enough of a hint.
      if CoordinatorError.Name(error.name) == refusal, !error.message.hasSuffix("?") { failure.hint = hint?(operation) }
      throw failure
    }
  }

  /// Calls a method that changes nothing; navd is not started for it.
  @discardableResult
  func ask<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(Failure) -> Output {
    do throws(DBusError) { return try request(method, input, starts: false) } catch { throw Failure(operation, error) }
  }

  /// Calls a method whose errors the verb handles itself.
  @discardableResult
  func request<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) throws(DBusError) -> Output {
    do throws(DBusError) {
      if starts, raises { return try requestRaising(method, input) }
      return try connection.callAndWait(
        method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: timeLeft ?? defaultTimeout,
        autoStart: false)
    } catch {
      guard starts, error.name == .nameHasNoOwner || error.name == .serviceUnknown else { throw error }
      return try callStarting(method, input)
    }
  }

  /// Makes a request that raises windows, and says so if no adapter can raise any here.
  private func requestRaising<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(DBusError)
    -> Output
  {
    raises = false
    let display = DisplayNames(wayland: variable("WAYLAND_DISPLAY"), x11: variable("DISPLAY"))
    let names =
      [WindowSystemInterface.bus] + [display.preferred.flatMap { WindowSystemInterface.bus(of: $0) }].compactMap(\.self)
    let (output, haveOwners) = try connection.callAndWait(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, askingFor: names,
      timeout: timeLeft ?? defaultTimeout)
    if !haveOwners.contains(true), !global.quiet {
      ErrorOutput.write(
        "navctl: \(operation): nothing raises windows here, since no adapter is running; "
          + "“navctl doctor” says how to start it")
    }
    return output
  }

  private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  func state() throws(Failure) -> StateSnapshot {
    let (state, serial) = try ask(CoordinatorInterface.getState, ())
    return StateSnapshot(state, serial: serial)
  }

  func destinations() throws(Failure) -> [NamedDestination] {
    try ask(CoordinatorInterface.destinations, ()).map {
      NamedDestination(name: $0.fields.0, entry: DestinationEntry($0.fields.1))
    }
  }

  /// The mistakes in files of destinations, by the names of these.
  func mistakes() throws(Failure) -> [String: String] { try ask(CoordinatorInterface.mistakes, ()) }

  func diagnosis() throws(Failure) -> Diagnosis { Diagnosis(try ask(CoordinatorInterface.diagnosis, ())) }

  /// The value of a property; nil if navd returns another type.
  func value<T>(of property: Property<T>) throws(Failure) -> T? {
    T(value: try ask(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text)))
  }

  /// - Parameters:
  ///   - limit: the maximum number of entries; 0 for all.
  ///   - filter: the options of `History`.
  func history(_ limit: UInt32, _ filter: Properties) throws(Failure) -> [EndingEntry] {
    try ask(CoordinatorInterface.history, (limit, filter)).map(EndingEntry.init)
  }

  /// - Throws: `Failure` if no group or stack can have this name. A valid name without members passes.
  func requireName(_ kind: String, _ name: String) throws(Failure) {
    try ask(CoordinatorInterface.members, (kind, name))
  }
}
