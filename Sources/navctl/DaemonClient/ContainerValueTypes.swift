import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

extension DaemonClient {
  /// Values for declared keys, each read as its declared type.
  func containerValues(_ assignments: [Assignment]) throws(Failure) -> Properties {
    var values: Properties = [:]
    for assignment in assignments {
      // The type of the key's default.
      let type = try call(CoordinatorInterface.containerValue, ("", assignment.key)).type
      do throws(JSON.Mismatch) { values[assignment.key] = try assignment.value(as: type) } catch {
        throw Failure(operation, "container value “\(assignment.key)”: \(error)", status: .usage)
      }
    }
    return values
  }

  /// Converts the container values in these requests from the types that JSON implies to the declared ones.
  func declaring(_ requests: [Structure<String, [Value]>]) throws(Failure) -> [Structure<String, [Value]>] {
    var result: [Structure<String, [Value]>] = []
    for (index, request) in requests.enumerated() {
      let (method, arguments) = request.fields
      var declared: [Value] = []
      do throws(Failure) {
        for argument in arguments { declared.append(try declaring(in: argument)) }
      } catch {
        var failure = error
        failure.why = "request \(index): \(error.why)"
        throw failure
      }
      result.append(Structure(method, declared))
    }
    return result
  }

  /// Converts options and elements of `SetPath`; returns every other argument unchanged.
  private func declaring(in argument: Value) throws(Failure) -> Value {
    if var options = Properties(value: argument), let given = options[Options.containerValues] {
      options[Options.containerValues] = try containerValues(
        given.sorted { $0.key < $1.key }.map { Assignment($0.key, .json(JSON($0.value))) })
      return options.value
    }
    if let elements = [Structure<String, String, Properties>](value: argument) {
      var declared: [Structure<String, String, Properties>] = []
      for element in elements {
        let (binding, id, options) = element.fields
        declared.append(Structure(binding, id, Properties(value: try declaring(in: options.value)) ?? options))
      }
      return declared.value
    }
    return argument
  }
}
