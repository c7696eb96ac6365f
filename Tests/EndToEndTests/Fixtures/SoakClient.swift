import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport

/// A client that makes one random request after another, with its own bindings.
final class SoakClient {
  private typealias Rows = CoordinatorInterface

  /// The number of pending calls of Wait.
  private(set) var waiting = 0
  private(set) var isIdle = true
  private(set) var tally = SoakTally()
  private let session: Session
  private let connection: Connection
  /// True if the client makes another request after a reply.
  private var isRunning = false
  private let root: String
  private var count = 0

  init(_ session: Session, _ number: Int) throws {
    self.session = session
    connection = try session.connect()
    root = "soak[\(number)]"
  }

  func begin() {
    isRunning = true
    next()
  }

  /// Ends after the reply to the pending request.
  func finish() { isRunning = false }

  private func next() {
    isIdle = !isRunning
    guard isRunning else { return }
    count += 1
    let id = String(count)
    switch Int.random(in: 0..<100) {
    case 0..<14: present("note", id, ["value": value.value, "title": .string(id)])
    case 14..<20: call(Rows.update, ("\(root).note", ["n": .int64(Int64(count))], [:]), mayLack: true)
    case 20..<26: call(Rows.toggle, ("\(root).toggle", "", .state))
    case 26..<32: call(Rows.dismiss, ("\(root).note", [:]))
    case 32..<36: present("window", id, ["command": ["sleep", "1000"].value])
    case 36..<38: present("short", id, ["command": ["true"].value], ending: ["closed", "replaced", "dismissed"])
    case 38..<42: present("shown", id, ["destination": .string("soak")])
    case 42..<45: present("timed", id, ["timeout": .uint64(5)], ending: ["expired", "replaced", "dismissed"])
    case 45..<48: present("queued", id, ["group": .string("soak.queue"), "if-busy": .string("queue")])
    case 48..<50: call(Rows.dismiss, ("\(root).queued", [:]))
    case 50..<55: call(Rows.select, ("\(root).group", ["one", "two", "three"][count % 3], .state))
    case 55..<58: call(Rows.toggleSelection, ("\(root).group", "one", .state))
    case 58..<60: call(Rows.deselect, ("\(root).group", "", [:]))
    case 60..<64: call(Rows.push, ("\(root).stack", "\(root).screen[\(count % 5)]", "", .state), mayBeInStack: true)
    case 64..<66: call(Rows.pop, ("\(root).stack", 1, [:]))
    case 66..<68: call(Rows.setPath, ("\(root).path", (0..<count % 4).map { Structure("", "\($0)", [:]) }, .state))
    case 68..<74: transaction(id)
    case 74..<76: act(id)
    case 76..<79: visit()
    case 79..<80: call(Rows.reload, ())
    default: read()
    }
  }

  private var value: Properties {
    ["n": .int64(Int64(count)), "text": .string(String(repeating: "x", count: count % 500))]
  }

  // MARK: Operations

  /// - Parameter ending: the permitted reasons of the presentation's end; nil not to wait for its end.
  private func present(_ name: String, _ id: String, _ options: Properties, ending: Set<String>? = nil) {
    request(Rows.present, ("\(root).\(name)", id, .state.merging(options) { $1 })) { [self] output in
      if let ending, let output { wait(for: output.0, ending) }
      next()
    }
  }

  private func wait(for presentation: ObjectPath, _ ending: Set<String>) {
    waiting += 1
    connection.callNavd(Rows.wait, (presentation, "gone")) { [self] result in
      waiting -= 1
      tally.operations += 1
      switch result {
      case .success(let (reason, _)):
        if !ending.contains(reason) {
          tally.errors.append("\(presentation): expected the reason \(ending.sorted()), found \(reason)")
        }
      case .failure(let error): tally.errors.append("Wait: \(error)")
      }
    }
  }

  private func transaction(_ id: String) {
    let badge: Properties = [Options.containerValues.name: ["badge": Value.string(id)].value]
    let requests = [("left", Properties.state), ("left.right", .state.merging(badge) { $1 })].map { name, options in
      TransactionRequest("Present", [.string("\(root).\(name)"), .string(id), options.value])
    }
    call(Rows.apply, (requests, [:]))
  }

  /// Presents a dialog, reports an action in it, and closes it.
  private func act(_ id: String) {
    request(Rows.present, ("\(root).dialog", id, .state)) { [self] output in
      guard let path = output?.0 else { return next() }
      request(Rows.act, (path, "pressed", ["n": .int64(Int64(count))])) { [self] _ in
        call(Rows.closed, (path, ["answer": .string("ok")]))
      }
    }
  }

  /// Connects another client, which subscribes, registers a presenter, presents an item that it owns, and disconnects.
  private func visit() {
    do throws(DBusError) {
      let visitor = try Connection.open(address: session.bus.address, loop: session.loop)
      visitor.subscribe(MatchRule(sender: CoordinatorNames.bus)) { _ in }
      visitor.callNavd(Rows.registerPresenter, ("visitors", "/x", [:])) { [self] result in
        tally.operations += 1
        if case .failure(let error) = result { tally.errors.append("a visitor's RegisterPresenter: \(error)") }
      }
      let item = Properties.state.merging(["owned": .boolean(true)]) { $1 }
      visitor.callNavd(Rows.present, ("\(root).visitor", String(count), item)) { [self] result in
        tally.operations += 1
        switch result {
        case .success(let (presentation, _, _, _)): wait(for: presentation, ["owner", "replaced", "dismissed"])
        case .failure(let error): tally.errors.append("a visitor's Present: \(error)")
        }
        // A connection cannot be closed in the completion of its own call.
        session.loop.soon { [self] in
          visitor.close()
          next()
        }
      }
    } catch {
      tally.errors.append("a visitor: \(error)")
      session.loop.soon { [self] in next() }
    }
  }

  private func read() {
    switch count % 10 {
    case 0: call(Rows.getState, ())
    case 1: call(Rows.members, ("all", ""))
    case 2: call(Rows.members, ("stack", "\(root).stack"))
    case 3: call(Rows.history, (20, [:]))
    case 4: call(Rows.destinations, ())
    case 5: call(Rows.containerValue, ("", "badge"))
    case 6: call(PropertyAccessing.getAll, Rows.name.text)
    case 7: call(Introspection.introspect, ())
    case 8: call(ObjectManagement.getManagedObjects, ())
    default: call(Rows.get, "\(root).note")
    }
  }

  // MARK: Calls

  private func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, mayLack: Bool = false, mayBeInStack: Bool = false
  ) {
    let allowed: Set<CoordinatorError.Name> = mayLack ? [.notPresented] : mayBeInStack ? [.alreadyInStack] : []
    request(method, input, allowed) { [self] _ in next() }
  }

  private func request<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, _ allowed: Set<CoordinatorError.Name> = [],
    _ completion: @escaping (Output?) -> Void
  ) {
    connection.callNavd(method, input) { [self] result in
      tally.operations += 1
      switch result {
      case .success(let output): completion(output)
      case .failure(let error):
        if CoordinatorError.Name(error.name).map(allowed.contains) != true {
          tally.errors.append("\(method.name): \(error)")
        }
        completion(nil)
      }
    }
  }
}

/// The outcome of the requests of a client.
struct SoakTally {
  var operations = 0
  /// The errors in replies, and unexpected replies.
  var errors: [String] = []
}

extension Connection {
  /// Calls navd without a timeout.
  func callNavd<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) {
    call(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil, completion)
  }
}
