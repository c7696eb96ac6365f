import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

extension Coordinator {
  /// Requests of a transaction, and the type of their reply (T1); see
  /// ``apply(animated:force:expecting:_:)``.
  ///
  ///     func close(_ changes: Coordinator.Changes) -> Coordinator.Change<Bool> { changes.dismiss("note") }
  ///     try await coordinator.apply { close($0) }
  public struct Change<Reply: Sendable>: Sendable {
    let requests: [Request]
    /// Reads this change's replies from the remaining ones, and the serial after the transaction.
    let read: @Sendable (_ replies: inout ArraySlice<[Value]>, _ serial: UInt64) throws(NavigationError) -> Reply
  }

  /// One request of a transaction.
  struct Request: Sendable {
    let method: String
    let arguments: [Value]
    /// Whether the request only ends presentations.
    let isRemoval: Bool
    /// The defaults of the request's container values, by name.
    let declarations: Properties
  }

  /// Creates the requests of a transaction. Each function corresponds to the function of ``Coordinator`` with the same name.
  ///
  ///     try await coordinator.apply { changes in
  ///       changes.select("items", in: "inventory.tab")
  ///       changes.push("inventory.path[0]", onto: "inventory.path", id: "7")
  ///     }
  public struct Changes: Sendable {
    init() {}

    func change<Input, Output, Reply>(
      _ method: ChangingMethod<Input, Output>, _ input: Input, declaring declarations: Properties = [:],
      reply: @escaping @Sendable (Output) -> Reply
    ) -> Change<Reply> {
      let request = Request(
        method: method.name.text, arguments: method.arguments(input), isRemoval: method.isRemoval,
        declarations: declarations)
      return Change(requests: [request]) { replies, serial throws(NavigationError) in
        guard let values = replies.popFirst(), let output = method.output(values, serial) else {
          throw .refused(
            CoordinatorError(.invalidArgument, "\(method.name): expected a reply of its types, found none"))
        }
        return reply(output)
      }
    }
  }

  /// Joins the requests of a transaction. Their replies become a tuple. The replies of an `if` without `else` are optional, and those
  /// of a `for` are an array.
  ///
  ///     try await coordinator.apply {
  ///       if model.count > 0 { $0.dismiss("note") }
  ///       if model.isOpen { $0.dismiss("launcher") } else { $0.dismiss("menu") }
  ///       for note in model.notes { $0.present("notes.\(note.id)", id: "\(note.id)") }
  ///     }
  @resultBuilder
  public enum ChangeBuilder {
    /// Joins requests in sequence.
    public static func buildBlock<each Reply>(_ changes: repeat Change<each Reply>) -> Change<(repeat each Reply)> {
      var requests: [Request] = []
      repeat requests += (each changes).requests
      return Change(requests: requests) { replies, serial throws(NavigationError) in
        (repeat try (each changes).read(&replies, serial))
      }
    }

    /// The requests of an `if`; the reply is nil if there are none.
    public static func buildOptional<Reply>(_ change: Change<Reply>?) -> Change<Reply?> {
      Change(requests: change?.requests ?? []) { replies, serial throws(NavigationError) in
        try change?.read(&replies, serial)
      }
    }

    /// The requests of one branch; both have the same reply.
    public static func buildEither<Reply>(first change: Change<Reply>) -> Change<Reply> { change }

    /// The requests of the other branch.
    public static func buildEither<Reply>(second change: Change<Reply>) -> Change<Reply> { change }

    /// The requests of a `for`, with an array of their replies.
    public static func buildArray<Reply>(_ changes: [Change<Reply>]) -> Change<[Reply]> {
      Change(requests: changes.flatMap(\.requests)) { replies, serial throws(NavigationError) in
        var all: [Reply] = []
        for change in changes { all.append(try change.read(&replies, serial)) }
        return all
      }
    }
  }

  /// Makes all of the changes or, if one is refused, none (T1). A slot that is set and set back has not changed.
  ///
  ///     let ((fact, count), _) = try await coordinator.apply {
  ///       $0.present("counter.fact", id: "1")
  ///       $0.dismissAll(.group("panels"))
  ///     }
  ///
  /// - Parameters:
  ///   - animated: whether what appears and disappears is to be animated; nil to leave it to its presenter.
  ///   - force: whether no presenter may ask its user or decline.
  ///   - serial: the serial of the state that the changes are made for. They are refused if anything has changed since.
  ///   - changes: makes the changes of its argument.
  /// - Returns: the replies of the changes, one after the other, and the serial after the last change.
  @discardableResult
  public nonisolated(nonsending) func apply<Reply>(
    animated: Bool? = nil, force: Bool = false, expecting serial: UInt64? = nil,
    @ChangeBuilder _ changes: (Changes) -> Change<Reply>
  ) async throws(NavigationError) -> (replies: Reply, serial: UInt64) {
    let change = changes(Changes())
    var options = Expectation().properties(animated: animated, force: force)
    options[Options.expectedSerial] = serial
    let (replies, moment) = try await apply(change.requests, options)
    var rest = replies[...]
    return (try change.read(&rest, moment.serial), moment.serial)
  }

  func apply(
    _ requests: [Request], _ options: Properties = [:]
  ) async throws(NavigationError) -> (replies: [[Value]], moment: Moment) {
    for request in requests { try await declare(request.declarations) }
    let ((replies, serial), coordinator) = try await backend.ask(
      Rows.apply, (requests.map { TransactionRequest($0.method, $0.arguments) }, options), starts: true)
    return (replies, Moment(coordinator: coordinator, serial: serial))
  }
}
