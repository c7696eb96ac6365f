// Why this file exists: `Apply` carries methods as names and lists of arguments, and answers with a list a request.

import CoordinatorAPI
import DBusValues
import PresentationRules
import TextFormats

extension Request {
  /// A changing method by its name, with its arguments (T1).
  /// - Throws: `Refusal`, without an index.
  package init(method: String, arguments: [Value]) throws(Refusal) {
    do throws(CoordinatorError) {
      try ChangingMethod(named: method).check(arguments)
    } catch {
      throw Refusal(.invalidArgument, error.message)
    }
    var list = ArgumentList(arguments)
    switch method {
    case "Present": self = try .present(list.next(), list.next(), list.next())
    case "Toggle": self = try .toggle(list.next(), list.next(), list.next())
    case "Update": self = try .update(list.next(), list.next(), list.next())
    case "Dismiss": self = try .dismiss(list.next(), list.next())
    case "DismissAll": self = try .dismissAll(list.next())
    case "Select": self = try .select(list.next(), list.next(), list.next())
    case "Deselect": self = try .deselect(list.next(), list.next(), list.next())
    case "ToggleSelection": self = try .toggleSelection(list.next(), list.next(), list.next())
    case "Push": self = try .push(list.next(), list.next(), list.next(), list.next())
    case "Pop": self = try .pop(list.next(), list.next(), list.next())
    case "PopTo": self = try .popTo(list.next(), list.next(), list.next())
    case "SetPath":
      let stack: String = try list.next()
      let elements: [Structure<String, String, Properties>] = try list.next()
      self = try .setPath(stack, elements.map { ($0.fields.0, $0.fields.1, $0.fields.2) }, list.next())
    default: throw Refusal(.invalidArgument, "method \(quoted(method)) cannot stand in a transaction")
    }
  }
}

extension [Request] {
  /// The requests of `Apply` (T1).
  ///
  /// - Parameters:
  ///   - serial: that the state is at.
  ///   - admit: throws for a request that is not carried out here.
  /// - Throws: `Refusal`, its index that of the request.
  package init(
    transaction requests: [Structure<String, [Value]>], _ options: Properties, at serial: Serial,
    admit: (Request) throws(Refusal) -> Void = { _ in }
  ) throws(Refusal) {
    try Options.ofApply.refuse(options)
    if let expected = options[Options.expectedSerial], expected < serial.number {
      throw Refusal(
        .stale, "expected-serial is \(expected), but the state is at \(serial); look at it again, and ask then")
    }
    self = []
    reserveCapacity(requests.count)
    for (index, request) in requests.enumerated() {
      do throws(Refusal) {
        let request = try Request(method: request.fields.0, arguments: request.fields.1)
        try admit(request)
        append(request)
      } catch {
        var refusal = error
        refusal.index = index
        throw refusal
      }
    }
  }
}

/// Takes arguments, which were checked, in their order.
private struct ArgumentList {
  private var rest: ArraySlice<Value>

  init(_ arguments: [Value]) { rest = arguments[...] }

  mutating func next<T: ValueConvertible>() throws(Refusal) -> T {
    guard let value = rest.popFirst(), let argument = T(value: value) else {
      throw Refusal(.invalidArgument, "an argument is missing, or of another type than “\(T.valueType.signature)”")
    }
    return argument
  }
}

extension Reply {
  /// The reply as the method's own reply has it, without the serial, which the transaction's has.
  package var values: [Value] {
    func path(_ handle: Handle?) -> ObjectPath { handle?.path ?? .root }
    switch self {
    case .presentation(let handle, let changed): return [path(handle).value, .boolean(changed)]
    case .toggled(let presented, let handle): return [.boolean(presented), path(handle).value]
    case .selected(let selected): return [.boolean(selected)]
    case .changed(let changed): return [.boolean(changed)]
    case .count(let count): return [.uint32(UInt32(clamping: count))]
    case .path(let handles): return [handles.map(path).value]
    }
  }
}
