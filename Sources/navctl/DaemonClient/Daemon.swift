// Why this file exists: every verb reaches the daemon in the same way, and its failures are told in the same words.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TextFormats

/// navd, over the bus. One hello and then the calls: nothing is subscribed to or asked for that a verb does not need.
final class Daemon {
  let loop: EventLoop
  let connection: Connection
  /// For messages: the verb and what it is about.
  let what: String
  private let global: GlobalOptions
  private let deadline: EventLoop.Instant?

  init(_ global: GlobalOptions, _ what: String) throws(Failure) {
    self.global = global
    self.what = what
    do throws(SystemError) { loop = try EventLoop() } catch { throw Failure(what, error.description) }
    deadline = global.within.map { [loop] in loop.now + .milliseconds($0) }
    do throws(DBusError) {
      if let address = global.host?.address(within: global.within) ?? global.address {
        connection = try Connection.open(address: address, loop: loop)
      } else {
        connection = try Connection.session(loop: loop)
      }
    } catch {
      if let host = global.host { throw Failure(what, host, error) }
      throw Failure(
        what, "the bus cannot be reached: \(error.message)", next: Failure.unreachableBus, status: .unreachable)
    }
  }

  /// Whether it is that of another machine, where what is here means nothing.
  var isRemote: Bool { global.host != nil }

  /// What is left of `--within`; nil without it.
  var rest: Duration? { deadline.map { max(.zero, $0 - loop.now) } }

  /// A call of a verb that changes something: the bus may start navd for it.
  @discardableResult
  func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(Failure) -> Output {
    do throws(DBusError) { return try request(method, input, starts: true) } catch {
      throw Failure(what, error, starts: true)
    }
  }

  /// A call of a verb that only asks: it does not start navd.
  @discardableResult
  func ask<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws(Failure) -> Output {
    do throws(DBusError) { return try request(method, input, starts: false) } catch { throw Failure(what, error) }
  }

  /// A call whose errors the verb looks at itself.
  @discardableResult
  func request<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) throws(DBusError) -> Output {
    try connection.callAndWait(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: rest ?? defaultTimeout,
      autoStart: starts)
  }

  func state() throws(Failure) -> StateView {
    let (state, serial) = try ask(CoordinatorInterface.getState, ())
    return StateView(state, serial: serial)
  }

  /// Asks about a group or a stack that is not in the state: whether there could be one of that name.
  /// - Throws: `Failure`, where the name can be no one's.
  func requireName(_ kind: String, _ name: String) throws(Failure) {
    try ask(CoordinatorInterface.members, (kind, name))
  }

  // MARK: Container values

  /// Values for declared keys, each of its declared type.
  func containerValues(_ assignments: [Assignment]) throws(Failure) -> Properties {
    var values: Properties = [:]
    for assignment in assignments {
      let type = try declaredType(of: assignment.key)
      do throws(JSON.Mismatch) { values[assignment.key] = try assignment.value(as: type) } catch {
        throw Failure(what, "the container value “\(assignment.key)”: \(error)", status: .usage)
      }
    }
    return values
  }

  /// The same requests, with the container values in their options of their declared types instead of JSON's.
  func declaring(_ requests: [Structure<String, [Value]>]) throws(Failure) -> [Structure<String, [Value]>] {
    var result: [Structure<String, [Value]>] = []
    for (index, request) in requests.enumerated() {
      let (method, arguments) = request.fields
      var declared: [Value] = []
      do throws(Failure) {
        for argument in arguments { declared.append(try declaring(in: argument)) }
      } catch {
        var failure = error
        failure.why = "request \(index): \(error.why)"
        throw failure
      }
      result.append(Structure(method, declared))
    }
    return result
  }

  /// Options, or `SetPath`'s elements; every other argument stays as it is.
  private func declaring(in argument: Value) throws(Failure) -> Value {
    if var options = Properties(value: argument), let given = options[Options.containerValues] {
      var values: Properties = [:]
      for (key, value) in given.sorted(by: { $0.key < $1.key }) {
        let type = try declaredType(of: key)
        do throws(JSON.Mismatch) { values[key] = try Value(JSON(value), as: type) } catch {
          throw Failure(what, "the container value “\(key)”: \(error)", status: .usage)
        }
      }
      options[Options.containerValues] = values
      return options.value
    }
    if let elements = [Structure<String, String, Properties>](value: argument) {
      var declared: [Structure<String, String, Properties>] = []
      for element in elements {
        let (binding, id, options) = element.fields
        declared.append(Structure(binding, id, Properties(value: try declaring(in: options.value)) ?? options))
      }
      return declared.value
    }
    return argument
  }

  /// The type of the default.
  private func declaredType(of key: String) throws(Failure) -> ValueType {
    try call(CoordinatorInterface.containerValue, ("", key)).type
  }
}
