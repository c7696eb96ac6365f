import DBusValues
import PresentationModel
import TextFormats

// The requests of a transaction in the form of `navctl apply` and of `startup` in navd.toml (T1, K4).

extension CoordinatorInterface {
  /// Reads the requests of a transaction from JSON: a list of requests, each of which is a list of a method's name and its arguments.
  /// - Throws: `JSON.Mistake` with the position, for invalid JSON and for invalid requests.
  package static func requests(json bytes: [UInt8]) throws(JSON.Mistake) -> [TransactionRequest] {
    let json = try JSON.parse(bytes)
    do throws(JSON.Mismatch) {
      guard let list = json.array else { throw JSON.Mismatch(why: "expected a list of requests, found \(json.kind)") }
      var requests: [TransactionRequest] = []
      for (index, request) in list.enumerated() {
        do throws(JSON.Mismatch) { requests.append(try Self.request(request)) } catch {
          throw JSON.Mismatch(path: [.element(index)] + error.path, why: "request \(index): \(error.why)")
        }
      }
      return requests
    } catch {
      throw JSON.Mistake(position: JSON.position(of: error.path, in: bytes), why: error.why)
    }
  }

  private static func request(_ json: JSON) throws(JSON.Mismatch) -> TransactionRequest {
    guard let list = json.array, let first = list.first else {
      let found = json.array == nil ? json.kind : "an empty list"
      throw JSON.Mismatch(why: "expected a list of a method's name and its arguments, found \(found)")
    }
    guard let name = first.string else {
      throw JSON.Mismatch(path: [.element(0)], why: "expected a method's name, found \(first.kind)")
    }
    let method: any AnyChangingMethod
    do throws(Refusal) { method = try changingMethod(name) } catch {
      throw JSON.Mismatch(path: [.element(0)], why: error.message)
    }
    do throws(JSON.Mismatch) {
      return TransactionRequest(name, try method.arguments(json: Array(list.dropFirst())))
    } catch {
      // The method's name precedes the arguments.
      guard case .element(let index)? = error.path.first else { throw error }
      throw JSON.Mismatch(path: [.element(index + 1)] + error.path.dropFirst(), why: error.why)
    }
  }
}

extension CoordinatorInterface {
  /// The request with other container values in its options and in the elements of `SetPath`.
  package static func converting<Failure: Error>(
    _ request: TransactionRequest, containerValues convert: (Properties) throws(Failure) -> Properties
  ) throws(Failure) -> TransactionRequest {
    var converted: [Value] = []
    for argument in request.arguments { converted.append(try argument.convertingContainerValues(convert)) }
    return TransactionRequest(request.method, converted)
  }
}

extension Value {
  /// Converts options and elements of `SetPath`; returns every other argument unchanged.
  fileprivate func convertingContainerValues<Failure: Error>(
    _ convert: (Properties) throws(Failure) -> Properties
  ) throws(Failure) -> Value {
    if var options = Properties(value: self), let given = options[Options.containerValues] {
      options[Options.containerValues] = try convert(given)
      return options.value
    }
    if let elements = [Structure<String, String, Properties>](value: self) {
      var converted: [Structure<String, String, Properties>] = []
      for element in elements {
        let (binding, id, options) = element.fields
        converted.append(
          Structure(binding, id, Properties(value: try options.value.convertingContainerValues(convert)) ?? options))
      }
      return converted.value
    }
    return self
  }
}
