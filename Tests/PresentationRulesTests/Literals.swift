import DBusValues
import PresentationModel

@testable import PresentationRules

/// Literals for bindings, handles, serials, clients, options and paths, so that tests read like the rules.
extension BindingID: ExpressibleByStringLiteral {
  /// Makes a binding from a literal, and traps if it is none.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { preconditionFailure("\(error)") }
  }
}

extension Handle: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: UInt64) { self.init(number) }
}

extension Serial: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: UInt64) { self.init(number) }
}

extension Client: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) { self.init(name) }
}

extension ItemOptions {
  /// The options of a request. Parameters that are left out are options that the request does not give.
  static func with(
    to destination: String? = nil, value: Properties? = nil, containerValues: Properties? = nil, style: String? = nil,
    title: String? = nil, output: String? = nil, from: BindingID? = nil, group: BindingID? = nil, tag: String? = nil,
    stack: BindingID? = nil, timeout: UInt64? = nil, owned: Bool? = nil, ifBusy: BusyPolicy? = nil,
    priority: Int32? = nil, within: UInt64? = nil, command: [String]? = nil, directory: String? = nil,
    environment: [String: String]? = nil, input: [UInt8]? = nil,
    platformData: Properties? = nil
  ) -> ItemOptions {
    var options = ItemOptions()
    options.destination = destination
    options.value = value
    options.containerValues = containerValues
    options.style = style
    options.title = title
    options.output = output
    options.from = from
    options.group = group
    options.tag = tag
    options.stack = stack
    options.timeout = timeout
    options.owned = owned
    options.ifBusy = ifBusy
    options.priority = priority
    options.within = within
    options.command = command.map { InlineCommand(arguments: $0.map { Array($0.utf8) }) }
    options.directory = directory
    options.environment = environment
    options.input = input
    options.platformData = platformData
    return options
  }
}

extension RequestedElement {
  /// An element of a path, by its binding, or as a plain value.
  static func at(_ binding: BindingID?, _ id: String = "", _ options: ItemOptions = ItemOptions()) -> RequestedElement {
    RequestedElement(binding: binding, id: id, options: options)
  }
}

extension Array where Element == RequestedElement {
  /// A path of plain values: the bindings are `stack[0]`, `stack[1]`, … (S5).
  static func values(_ ids: String..., to destination: String? = nil) -> [RequestedElement] {
    ids.map { .at(nil, $0, .with(to: destination)) }
  }
}

/// The expectation of a request (P10), under a name that Swift Testing has not taken.
typealias Expected = Expectation

extension Expectation {
  /// The expectation that the slot holds no item.
  static var emptySlot: Expectation {
    var expectation = Expectation()
    expectation.content = .nothing
    return expectation
  }
}
