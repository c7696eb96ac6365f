// Why this file exists: org.navd.Coordinator1, bound to the coordinator: a method a line where that is all there is to
// it.

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationRules

extension Coordinator {
  private typealias Rows = CoordinatorInterface

  func coordinatorInterface() -> ImplementedInterface {
    let object = ImplementedInterface(Rows.interface)
    implementChanges(object)
    implementReading(object)
    implementPresenting(object)
    implementManagement(object)
    implementProperties(object)
    return object
  }

  // MARK: What changes the state

  private func implementChanges(_ object: ImplementedInterface) {
    ChangingMethods.forEach(Changes(coordinator: self, object: object))
    object.implement(Rows.apply) { [unowned self] input, call in
      do throws(Refusal) {
        let requests = try [Request](transaction: input.0, input.1, at: machine.serial)
        let animated = input.1[Options.animated] ?? true
        authorization.authorize(try authorization.privilege(for: requests, inTransaction: true), call) {
          [unowned self] () throws(Refusal) in
          let replies = try perform(requests, animated: animated, by: Client(call.sender.text))
          return (replies.map(\.values), serial)
        }
      } catch {
        call.fail(DBusError(error))
      }
    }
  }

  // MARK: What reads it

  private func implementReading(_ object: ImplementedInterface) {
    object.implement(Rows.get) { [unowned self] binding, call in
      answer(call) { () throws(Refusal) in
        let serial = self.serial
        guard let presentation = machine.current(at: try BindingID(binding)) else { return (.root, [:], serial) }
        var entry = machine.entry(presentation, platform: platform(of: presentation.handle))
        entry["timeout-left"] = machine.timeLeft(of: presentation, at: now).map { .uint64($0) }
        return (presentation.handle.path, entry, serial)
      }
    }
    object.implement(Rows.getState) { [unowned self] _, call in
      call.reply((machine.properties(platform: platform), serial))
    }
    object.implement(Rows.members) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in
        try machine.members(of: Container(kind: input.0, name: input.1)).map {
          Structure($0.binding.text, $0.id, $0.presentation.path, $0.containerValues)
        }
      }
    }
    object.implement(Rows.wait) { [unowned self] input, call in
      wait(input.0, for: input.1, call)
    }
    object.implement(Rows.containerValue) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in
        try machine.containerValue(input.1, at: try BindingID(optional: input.0.isEmpty ? nil : input.0))
      }
    }
    object.implement(Rows.history) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in try machine.history(most: input.0, filter: input.1) }
    }
    object.implement(Rows.destinations) { [unowned self] _, call in
      call.reply(machine.destinations.map { Structure($0.name, $0.properties) })
    }
  }

  // MARK: Presenters

  private func implementPresenting(_ object: ImplementedInterface) {
    object.implement(Rows.registerPresenter) { [unowned self] input, call in
      let client = Client(call.sender.text)
      do throws(Refusal) {
        let destination = try Destination(name: input.0, path: input.1, options: input.2, client: client)
        authorization.authorize(.registeringPresenters, call) { [unowned self] () throws(Refusal) in
          try register(destination, by: client)
        }
      } catch {
        call.fail(DBusError(error))
      }
    }
    object.implement(Rows.unregisterPresenter) { [unowned self] name, call in
      answer(call) { () throws(Refusal) in try unregister(name, by: Client(call.sender.text)) }
    }
    object.implement(Rows.closed) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in
        let changed = try closed(try Handle(input.0), result: input.1, by: Client(call.sender.text))
        return (changed, serial)
      }
    }
    object.implement(Rows.act) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in
        try act(try Handle(input.0), action: input.1, parameters: input.2, by: Client(call.sender.text))
        return serial
      }
    }
  }

  // MARK: The daemon itself

  private func implementManagement(_ object: ImplementedInterface) {
    object.implement(Rows.declareContainerValue) { [unowned self] input, call in
      answer(call) { () throws(Refusal) in try declareContainerValue(input.0, defaultValue: input.1) }
    }
    object.implement(Rows.reload) { [unowned self] _, call in
      answer(call) { () throws(Refusal) in try reload() }
    }
    object.implement(Rows.quit) { [unowned self] _, call in
      quit(by: Client(call.sender.text))
      call.reply()
    }
  }

  private func implementProperties(_ object: ImplementedInterface) {
    object.implement(Rows.version, get: { _ in CoordinatorInterface.currentVersion })
    object.implement(Rows.release, get: { _ in Release.version })
    object.implement(Rows.serial, get: { [unowned self] _ in serial })
    object.implement(
      Rows.limits,
      get: { [unowned self] _ in
        machine.limits.byName.merging(["request": UInt64(connection.limits.requestBytes)]) { $1 }
      })
  }
}

/// Serves a method that is one request: read, carried out, answered with the serial after it (W2).
private struct Changes: ChangingMethodVisitor {
  unowned let coordinator: Coordinator
  let object: ImplementedInterface

  func visit<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    answer: @escaping @Sendable (Reply, UInt64) -> Output
  ) {
    object.implement(method) { [unowned coordinator] input, call in
      do throws(Refusal) {
        let request = try read(input)
        let authorization = coordinator.authorization
        authorization.authorize(try authorization.privilege(for: [request]), call) {
          [unowned coordinator] () throws(Refusal) in
          let reply = try coordinator.perform(request, by: Client(call.sender.text))
          return answer(reply, coordinator.serial)
        }
      } catch {
        call.fail(DBusError(error))
      }
    }
  }
}
