import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import SessionFiles
import TextFormats

/// The file with the transaction that navd carries out when it starts with an empty record (K4).
struct StartupFile {
  private let file: String
  private let text: [UInt8]
  private let requests: [TransactionRequest]

  /// - Throws: `FileFault` if the file cannot be read, or is not a list of requests.
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

  /// The requests, with container values of the declared types of their keys.
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

  /// The mistake for which navd would refuse the transaction at its start with these destinations and container values; nil if there
  /// is none.
  func rehearsal(
    _ destinations: [Destination], _ containerValues: [DeclaredContainerValue], _ commands: InlineCommands
  ) -> FileFault? {
    var machine = StateMachine()
    _ = machine.load(destinations)
    _ = machine.declareContainerValues(
      containerValues.map { (key: $0.key, defaultValue: $0.defaultValue) }, overridingRecord: true)
    do throws(Refusal) {
      let requests = try requests(machine.containerValueDefaults)
      try commands.check(requests, inTransaction: true)
      _ = try machine.perform(requests, by: nil, at: Instant(nanoseconds: 0))
      return nil
    } catch {
      return fault(error)
    }
  }

  /// The mistake of a refused transaction, at the position of the refused request.
  func fault(_ refusal: Refusal) -> FileFault {
    guard let index = refusal.index else { return FileFault(file, nil, refusal.message) }
    return FileFault(
      file, JSON.position(of: [.element(index)], in: text), "request \(index): \(refusal.message)")
  }
}
