import PresentationModel
import TextFormats

/// A value that a record has as JSON.
protocol Recordable {
  func write(to writer: inout JSONWriter)
  init(recorded json: JSON) throws(Unreadable)
}

/// The reason why a text is no record of this release.
struct Unreadable: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

// MARK: Fields

/// Writes or reads the fields of an object, so that one list of fields serves both. A field without a value is left out.
protocol FieldCoder {
  associatedtype Failure: Error
  /// True for a coder that reads, and so changes the fields.
  static var reads: Bool { get }
  mutating func field<Content: Recordable>(_ name: String, _ content: inout Content?) throws(Failure)
  /// Refuses fields that contradict each other.
  func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Failure)
}

extension FieldCoder {
  /// Codes a field that is always there.
  mutating func required<Content: Recordable>(_ name: String, _ content: inout Content) throws(Failure) {
    var field: Content? = content
    try self.field(name, &field)
    try require(field != nil, "expected a field “\(name)”")
    content = field ?? content
  }

  /// Codes a field that is left out if it has its default.
  mutating func field<Content: Recordable & Equatable>(
    _ name: String, _ content: inout Content, default ordinary: Content
  ) throws(Failure) {
    var field = content == ordinary ? nil : content
    try self.field(name, &field)
    content = field ?? ordinary
  }

  mutating func mark(_ name: String, _ isMarked: inout Bool) throws(Failure) {
    try field(name, &isMarked, default: false)
  }
}

extension JSONWriter: FieldCoder {
  static var reads: Bool { false }

  mutating func field<Content: Recordable>(_ name: String, _ content: inout Content?) {
    guard let content else { return }
    beginMember(name)
    content.write(to: &self)
  }

  func require(_: Bool, _: @autoclosure () -> String) {}
}

struct FieldReader: FieldCoder {
  static var reads: Bool { true }
  /// The fields that were not read yet.
  private var rest: [String: JSON]

  init(_ json: JSON) throws(Unreadable) {
    rest = try json.members()
  }

  mutating func field<Content: Recordable>(_ name: String, _ content: inout Content?) throws(Unreadable) {
    guard let json = rest.removeValue(forKey: name) else { return content = nil }
    do throws(Unreadable) {
      content = try Content(recorded: json)
    } catch {
      throw Unreadable("\(name): \(error)")
    }
  }

  func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Unreadable) {
    if !condition { throw Unreadable(reason()) }
  }

  func finish() throws(Unreadable) {
    guard let name = rest.keys.min() else { return }
    throw Unreadable("the field \(quoted(name)) is not one of this release")
  }
}

extension JSON {
  func members() throws(Unreadable) -> [String: JSON] {
    guard case .object(let members) = self else { throw Unreadable("expected an object, found \(kind)") }
    return members
  }
}

/// A value that a record has as an object.
protocol Fielded: Recordable {
  /// A value whose fields are still to be read.
  static var blank: Self { get }
  mutating func code<Coder: FieldCoder>(with coder: inout Coder) throws(Coder.Failure)
}

extension Fielded {
  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      var copy = self
      copy.code(with: &writer)
    }
  }

  init(recorded json: JSON) throws(Unreadable) {
    var reader = try FieldReader(json)
    self = .blank
    try code(with: &reader)
    try reader.finish()
  }
}
