import PresentationModel
import CoordinatorAPI
import DBusValues
import TextFormats

extension DaemonClient {
  /// Values for declared keys, each read as its declared type.
  func containerValues(_ assignments: [Assignment]) throws(Failure) -> Properties {
    var values: Properties = [:]
    for assignment in assignments {
      let type = try declaredType(of: assignment.key)
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
      var values: Properties = [:]
      for (key, value) in given.sorted(by: { $0.key < $1.key }) {
        let type = try declaredType(of: key)
        do throws(JSON.Mismatch) { values[key] = try Value(JSON(value), as: type) } catch {
          throw Failure(operation, "container value “\(key)”: \(error)", status: .usage)
        }
      }
      options[Options.containerValues] = values
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

  /// The type of the key's default.
  private func declaredType(of key: String) throws(Failure) -> ValueType {
    try call(CoordinatorInterface.containerValue, ("", key)).type
  }
}
