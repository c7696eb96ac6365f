import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

extension DaemonClient {
  /// The values of declared keys, each read as the key's declared type.
  func containerValues(_ assignments: [Assignment]) throws(Failure) -> Properties {
    var values: Properties = [:]
    for assignment in assignments {
      // The type of the default is the key's type.
      let type = try call(CoordinatorInterface.containerValue, ("", assignment.key)).type
      do throws(JSON.Mismatch) { values[assignment.key] = try assignment.value(as: type) } catch {
        throw Failure(operation, "container value “\(assignment.key)”: \(error)", status: .usage)
      }
    }
    return values
  }

  /// Converts the container values in requests from the types that JSON implies to the declared ones.
  func declaring(_ requests: [TransactionRequest]) throws(Failure) -> [TransactionRequest] {
    var result: [TransactionRequest] = []
    for (index, request) in requests.enumerated() {
      do throws(Failure) {
        result.append(
          try CoordinatorInterface.converting(request) { given throws(Failure) in
            try containerValues(
              given.sorted { $0.key < $1.key }.map { Assignment($0.key, .json(JSON($0.value))) })
          })
      } catch {
        var failure = error
        failure.why = "request \(index): \(error.why)"
        throw failure
      }
    }
    return result
  }
}
