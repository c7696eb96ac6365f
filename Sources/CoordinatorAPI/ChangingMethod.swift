// Why this file exists: a request inside `Apply` is a method's name and its arguments as variants; both ends check it by
// the same rows as the method itself.

import DBus
import DBusValues
import TextFormats

/// A method of `org.navd.Coordinator1` that may stand in `Apply`.
public struct ChangingMethod: Sendable {
  public let name: MemberName
  public let inputs: [ArgumentDescription]
  /// What its argument `options` takes.
  public let options: OptionTable

  /// Every one of them.
  public static let all = [
    ChangingMethod(CoordinatorInterface.present, Options.ofPresent),
    ChangingMethod(CoordinatorInterface.toggle, Options.ofToggle),
    ChangingMethod(CoordinatorInterface.update, Options.ofUpdate),
    ChangingMethod(CoordinatorInterface.dismiss, Options.ofDismiss),
    ChangingMethod(CoordinatorInterface.dismissAll, Options.ofDismissAll),
    ChangingMethod(CoordinatorInterface.select, Options.ofSelect),
    ChangingMethod(CoordinatorInterface.deselect, Options.ofDeselect),
    ChangingMethod(CoordinatorInterface.toggleSelection, Options.ofSelect),
    ChangingMethod(CoordinatorInterface.push, Options.ofPush),
    ChangingMethod(CoordinatorInterface.pop, Options.ofPop),
    ChangingMethod(CoordinatorInterface.popTo, Options.ofPop),
    ChangingMethod(CoordinatorInterface.setPath, Options.ofSetPath),
  ]

  /// - Throws: `InvalidArgument` where no method of that name may stand in `Apply`.
  public init(named name: String) throws(CoordinatorError) {
    guard let method = Self.all.first(where: { $0.name.text == name }) else {
      throw CoordinatorError(
        .invalidArgument, "\(quoted(name)) is no changing method; one of \(Self.names) would do")
    }
    self = method
  }

  static var names: String { all.map(\.name.text).joined(separator: ", ") }

  private init<Input, Output>(_ row: Method<Input, Output>, _ options: OptionTable) {
    name = row.name
    inputs = row.inputs
    self.options = options
  }

  /// Checks number and types of the arguments that came without a signature of their own. The options are checked where
  /// the method itself checks them.
  /// - Throws: `InvalidArgument`.
  public func check(_ arguments: [Value]) throws(CoordinatorError) {
    guard arguments.count == inputs.count else {
      throw CoordinatorError(.invalidArgument, wrongCount(arguments.count))
    }
    for (argument, input) in zip(arguments, inputs) where argument.type != input.type {
      throw CoordinatorError(
        .invalidArgument,
        "\(name)'s argument “\(input.name)” is of type \(argument.type.signature), not \(input.type.signature)")
    }
  }

  /// Reads arguments from JSON, each by its declared type, known options too.
  /// - Throws: `Mismatch`, its path within `json`.
  public func arguments(_ json: [JSON]) throws(JSON.Mismatch) -> [Value] {
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

  /// `SetPath`'s: what an element's options are is declared too.
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
    "\(name) takes \(inputs.count) arguments (\(inputs.map(\.name).joined(separator: ", "))), not \(count)"
  }
}
