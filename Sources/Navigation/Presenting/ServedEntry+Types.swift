import PresentationModel

extension ServedEntry {
  /// An item that is only on or off.
  init(of type: Bool.Type) {
    self.init([:])
    self.type = "Bool"
  }

  /// Items of a type.
  init<Item, ID>(of type: Item.Type, id: ID.Type) {
    self.init([:])
    self.type = TypeName.shown(type)
    if type == Void.self { return }
    let schema = TypeSchema.of(id)
    self.id = schema.text
    guard type is any Decodable.Type else {
      self.own = true
      return
    }
    let value = TypeSchema.of(type)
    self.value = value.text
    self.identity = value.identity(of: type, schema)
  }

  /// The elements of a path of one type.
  init<Element: Decodable>(path type: Element.Type) {
    self.init([:])
    self.elements = true
    self.type = TypeName.shown(type)
    let value = TypeSchema.of(type)
    guard let identifiable = type as? any Identifiable.Type, let id = identifiable.idType as? any Decodable.Type else {
      self.id = value.text
      return
    }
    let schema = TypeSchema.of(id)
    self.id = schema.text
    self.value = value.text
    self.identity = value.identity(of: type, schema)
  }

  /// The elements of a path of several types, by their names.
  init(pathOf types: [String: any (Hashable & Codable).Type]) {
    self.init([:])
    self.elements = true
    if !types.isEmpty { self.types = types.mapValues { TypeSchema.of($0).text } }
  }

  /// The expected id and value, for messages.
  var summary: String {
    [self.type, self.id.map { "the id \($0)" }, self.value.map { "the value \($0)" }].compactMap(\.self).joined(
      separator: ", ")
  }
}

extension ValueSchema {
  /// The key of a value that is its id, of an `Identifiable` type that stores one.
  fileprivate func identity(of type: Any.Type, _ id: ValueSchema) -> String? {
    guard type is any Identifiable.Type, case .record(let fields) = self else { return nil }
    return fields.contains { $0.name == "id" && $0.schema == id && !$0.isOptional } ? "id" : nil
  }
}

extension Identifiable {
  fileprivate static var idType: Any.Type { ID.self }
}
