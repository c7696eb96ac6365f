import DBus
import DBusValues
import PresentationModel
import TextFormats

/// A method of `org.navd.Coordinator1` that makes one request of the state machine. It may be a request of `Apply` (T1).
///
/// The declaration holds the arguments and options, the function that reads the request from them, and the function that makes the
/// answer from the state machine's reply.
public final class ChangingMethod<Input: Sendable, Output: Sendable>: Method<Input, Output>, AnyChangingMethod,
  @unchecked Sendable
{
  /// The options, made on demand: callers do not need them.
  package var options: OptionTable { makeOptions() }
  package let isRemoval: Bool
  package let read: @Sendable (Input) throws(Refusal) -> Request
  /// Makes the answer from the reply to the request and the serial after it.
  package let answer: @Sendable (Reply, UInt64) -> Output

  private let makeOptions: @Sendable () -> OptionTable
  private let inValues: ValueList<Input>
  private let outValues: ValueList<Output>

  /// - Parameter describesOptions: whether the documentation ends with a list of the options.
  init<each I: ValueConvertible, each O: ValueConvertible>(
    _ name: MemberName, in inputs: repeat Arg<each I>, options: @autoclosure @escaping @Sendable () -> OptionTable,
    describesOptions: Bool = true, isRemoval: Bool = false,
    out outputs: repeat Arg<each O>, doc: @autoclosure @escaping @Sendable () -> String,
    read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    answer: @escaping @Sendable (Reply, UInt64) -> Output
  ) where Input == (repeat each I), Output == (repeat each O) {
    makeOptions = options
    self.isRemoval = isRemoval
    self.read = read
    self.answer = answer
    inValues = ValueList(repeat (each I).self)
    outValues = ValueList(repeat (each O).self)
    super.init(
      CoordinatorInterface.name, name, in: ArgumentList(repeat each inputs), out: ArgumentList(repeat each outputs),
      doc: doc() + (describesOptions ? "\n\nOptions:\n" + options().doc : ""))
  }

  /// Makes a method with one argument. Swift 6.3 crashes on a closure literal with a pack of one as its argument.
  convenience init<each O: ValueConvertible>(
    _ name: MemberName, inOne input: Arg<Input>, options: @autoclosure @escaping @Sendable () -> OptionTable,
    describesOptions: Bool = true, isRemoval: Bool = false,
    out outputs: repeat Arg<each O>, doc: @autoclosure @escaping @Sendable () -> String,
    read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    answer: @escaping @Sendable (Reply, UInt64) -> Output
  ) where Input: ValueConvertible, Output == (repeat each O) {
    self.init(
      name, in: input, options: options(), describesOptions: describesOptions, isRemoval: isRemoval,
      out: repeat each outputs, doc: doc(), read: read, answer: answer)
  }

  /// The arguments for a request of `Apply`.
  package func arguments(_ input: Input) -> [Value] { inValues.values(input) }

  package func request(_ arguments: [Value]) throws(Refusal) -> Request {
    guard let input = inValues.tuple(try checked(arguments)) else {
      throw Refusal(
        .invalidArgument, "\(name): expected \(inputs.map(\.name).joined(separator: ", ")) of the declared types")
    }
    return try read(input)
  }

  /// The answer of the method; nil if the values do not have the declared types.
  /// - Parameters:
  ///   - values: the answer in a reply of `Apply`, without the serial.
  ///   - serial: the serial of the answer.
  package func output(_ values: [Value], _ serial: UInt64) -> Output? { outValues.tuple(values + [serial.value]) }

  package func values(_ reply: Reply) -> [Value] {
    var values = outValues.values(answer(reply, 0))
    values.removeLast()
    return values
  }
}

/// A changing method without its Swift types.
package protocol AnyChangingMethod: InterfaceMember {
  var inputs: [ArgumentDescription] { get }
  var options: OptionTable { get }
  /// Whether the method only ends presentations.
  var isRemoval: Bool { get }
  /// Reads a request of `Apply`.
  /// - Throws: `Refusal` if the arguments are not those of the method.
  func request(_ arguments: [Value]) throws(Refusal) -> Request
  /// The answer in a reply of `Apply`, without the serial.
  func values(_ reply: Reply) -> [Value]
}

/// The values in a request or a reply of `Apply`, and the tuple of their Swift types.
private struct ValueList<Tuple: Sendable>: Sendable {
  let values: @Sendable (Tuple) -> [Value]
  /// The tuple of the values; nil if they do not have these types.
  let tuple: @Sendable ([Value]) -> Tuple?

  init<each T: ValueConvertible>(_ types: repeat (each T).Type) where Tuple == (repeat each T) {
    values = { tuple in
      let tuple: (repeat each T) = tuple
      var values: [Value] = []
      repeat values.append((each tuple).value)
      return values
    }
    tuple = { values in
      var rest = values[...]
      return try? (repeat rest.next((each T).self))
    }
  }
}

private struct MissingArgument: Error {}

extension ArraySlice<Value> {
  fileprivate mutating func next<T: ValueConvertible>(_ type: T.Type) throws(MissingArgument) -> T {
    guard let value = popFirst(), let argument = T(value: value) else { throw MissingArgument() }
    return argument
  }
}

extension CoordinatorInterface {
  static var namesOfChangingMethods: String { changingMethods.map(\.name.text).joined(separator: ", ") }

  /// - Throws: `Refusal` with the code `invalidArgument` if no changing method has this name.
  package static func changingMethod(_ name: String) throws(Refusal) -> any AnyChangingMethod {
    guard let method = CoordinatorMethod(rawValue: name)?.changing else {
      throw Refusal(
        .invalidArgument, "\(quoted(name)) cannot be in a list of requests; expected one of \(namesOfChangingMethods)")
    }
    return method
  }
}

extension AnyChangingMethod {
  /// Checks the number and types of the arguments, but not the options.
  /// - Returns: the arguments with integers of the declared types.
  /// - Throws: `Refusal` with the code `invalidArgument`.
  package func checked(_ arguments: [Value]) throws(Refusal) -> [Value] {
    guard arguments.count == inputs.count else {
      throw Refusal(.invalidArgument, wrongCount(arguments.count))
    }
    var checked = arguments
    for (index, input) in inputs.enumerated() where arguments[index].type != input.type {
      if let mistake = arguments[index].mistake(as: [input.type]) {
        throw Refusal(.invalidArgument, "\(name)'s argument “\(input.name)”: \(mistake)")
      }
      if let integer = arguments[index].integer(as: input.type) { checked[index] = integer }
    }
    return checked
  }

  /// Reads arguments and options from JSON by their declared types.
  /// - Throws: `Mismatch` with the path within `json`.
  package func arguments(json: [JSON]) throws(JSON.Mismatch) -> [Value] {
    guard json.count == inputs.count else { throw JSON.Mismatch(why: wrongCount(json.count)) }
    var arguments: [Value] = []
    for (index, (argument, input)) in zip(json, inputs).enumerated() {
      do throws(JSON.Mismatch) {
        switch input.name {
        case "options": arguments.append(try options.options(argument).value)
        case "elements": arguments.append(try elements(argument, input.type))
        default: arguments.append(try Value(argument, as: input.type))
        }
      } catch {
        throw error.inside(.element(index))
      }
    }
    return arguments
  }

  /// Reads the elements of `SetPath`, whose options also have declared types.
  private func elements(_ json: JSON, _ type: ValueType) throws(JSON.Mismatch) -> Value {
    let value = try Value(json, as: type)
    guard case .array(let element, var values) = value, let rows = json.array else { return value }
    for (index, fields) in rows.compactMap(\.array).enumerated() {
      let last = fields.count - 1
      do throws(JSON.Mismatch) {
        let options = try Options.ofItem.options(fields[last])
        guard case .structure(var fields) = values[index] else { continue }
        fields[last] = options.value
        values[index] = .structure(fields)
      } catch {
        throw error.inside(.element(last)).inside(.element(index))
      }
    }
    return .array(element: element, values)
  }

  private func wrongCount(_ count: Int) -> String {
    "\(name): expected \(inputs.count) arguments (\(inputs.map(\.name).joined(separator: ", "))), found \(count)"
  }
}
