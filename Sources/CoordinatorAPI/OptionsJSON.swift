import DBusValues
import PresentationModel
import TextFormats

extension OptionTable {
  /// Reads options from JSON, each by its declared type.
  /// - Throws: `Mismatch` for a name that is not in the table, or a value that fits no type of its row.
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
  /// By the first of the types that fits; the mistake told is that of the first.
  fileprivate func value(_ json: JSON) throws(JSON.Mismatch) -> Value {
    var mistake: JSON.Mismatch?
    for type in types {
      do throws(JSON.Mismatch) { return try Value(json, as: type) } catch { mistake = mistake ?? error }
    }
    throw mistake ?? JSON.Mismatch(why: "option \(name) takes no value")
  }
}
