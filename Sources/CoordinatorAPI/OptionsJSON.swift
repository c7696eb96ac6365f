import DBusValues
import PresentationModel
import TextFormats

extension OptionTable {
  /// Reads options from JSON by their declared types.
  /// - Throws: `Mismatch` for an unknown name, and for a value that has none of the accepted types.
  public func options(_ json: JSON) throws(JSON.Mismatch) -> Properties {
    guard let members = json.object else {
      throw JSON.Mismatch(why: "expected an object of options, found \(json.kind)")
    }
    var options: Properties = [:]
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      guard let row = self[name] else {
        throw JSON.Mismatch(path: [.member(name)], why: unknown(name).message)
      }
      do throws(JSON.Mismatch) { options[name] = try row.value(member) } catch { throw error.inside(.member(name)) }
    }
    return options
  }
}

extension OptionTable.Row {
  /// Converts JSON to the first accepted type that it fits.
  /// - Throws: the `Mismatch` of the first type.
  fileprivate func value(_ json: JSON) throws(JSON.Mismatch) -> Value {
    var mistake: JSON.Mismatch?
    for type in types {
      do throws(JSON.Mismatch) { return try Value(json, as: type) } catch { mistake = mistake ?? error }
    }
    throw mistake ?? JSON.Mismatch(why: "option \(name): expected no value")
  }
}
