import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import SessionFiles
import TextFormats

/// The file with the transaction that navd carries out when it starts with nothing on record (K4).
struct StartupFile {
  private let file: String
  private let text: [UInt8]
  private let requests: [TransactionRequest]

  /// - Throws: `FileFault` if it cannot be read, or is not a list of requests.
  init(path: [UInt8], maxBytes: Int) throws(FileFault) {
    file = displayed(path)
    do throws(SafeFiles.Unreadable) {
      guard let text = try SafeFiles.content(of: path, maxBytes: maxBytes) else {
        throw SafeFiles.Unreadable(why: "there is no such file, which “startup” of \(SettingsFile.name) names")
      }
      self.text = text
    } catch {
      throw FileFault(file, nil, error.why)
    }
    do throws(JSON.Mistake) {
      requests = try CoordinatorInterface.requests(json: text)
    } catch {
      throw FileFault(file, error.position, error.why)
    }
    do throws(Refusal) { _ = try TransactionCall(requests) } catch { throw fault(error) }
  }

  /// The requests, with container values of the types that their keys are declared with.
  /// - Throws: `Refusal` with the index of a request.
  func requests(_ declared: Properties) throws(Refusal) -> [Request] {
    var converted: [TransactionRequest] = []
    for (index, request) in requests.enumerated() {
      do throws(Refusal) {
        converted.append(
          try CoordinatorInterface.converting(request) { given throws(Refusal) in
            var values = given
            for (key, value) in given {
              // An unknown key is refused with the request.
              guard let type = declared[key]?.type else { continue }
              do throws(JSON.Mismatch) { values[key] = try Value(JSON(value), as: type) } catch {
                throw Refusal(.invalidArgument, "container value “\(key)”: \(error)")
              }
            }
            return values
          })
      } catch {
        var refusal = error
        refusal.index = index
        throw refusal
      }
    }
    return try TransactionCall(converted).requests
  }

  /// Why it would be refused when navd starts with these destinations and container values, or what of it nothing would show; nil
  /// if all would be shown.
  func rehearsal(
    _ destinations: [Destination], _ containerValues: [DeclaredContainerValue], _ commands: InlineCommands
  ) -> FileFault? {
    func rehearse(_ change: (inout Request) -> Void = { _ in }) throws(Refusal) {
      var machine = StateMachine()
      _ = machine.load(destinations)
      _ = machine.declareContainerValues(
        containerValues.map { (key: $0.key, defaultValue: $0.defaultValue) }, overridingRecord: true)
      var requests = try requests(machine.containerValueDefaults)
      try commands.check(requests, inTransaction: true)
      for index in requests.indices { change(&requests[index]) }
      _ = try machine.perform(requests, by: nil, at: Instant(nanoseconds: 0))
    }
    do throws(Refusal) { try rehearse() } catch { return fault(error) }
    do throws(Refusal) {
      try rehearse { $0.needsKnownName = !$0.meansState }
      return nil
    } catch {
      let unknown = fault(error)
      return FileFault(
        unknown.file, unknown.position,
        unknown.message + "; until then nothing shows the item, and with the option “known”: false that is meant")
    }
  }

  /// The mistake for which the transaction is refused, at the request's place.
  func fault(_ refusal: Refusal) -> FileFault {
    guard let index = refusal.index else { return FileFault(file, nil, refusal.message) }
    return FileFault(
      file, JSON.position(of: [.element(index)], in: text), "request \(index): \(refusal.message)")
  }
}
