import DBusValues

/// A selection of signals ("D-Bus Specification", *Match Rules*). A nil matches anything.
public struct MatchRule: Hashable, Sendable {
  public var sender: BusName?
  public var path: ObjectPath?
  public var interface: InterfaceName?
  public var member: MemberName?
  /// The first argument, which must be a string.
  public var arg0: String?

  public init(
    sender: BusName? = nil, path: ObjectPath? = nil, interface: InterfaceName? = nil, member: MemberName? = nil,
    arg0: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arg0 = arg0
  }

  /// The rule in the notation of the bus. It is collected as bytes, since appending to a text takes some hundred instructions each
  /// time.
  var text: String {
    var text: [UInt8] = []
    text.reserveCapacity(256)
    text += "type='signal'".utf8
    func add(_ key: StaticString, _ value: String?) {
      guard let value else { return }
      text += UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
      text += value.utf8
      text.append(UInt8(ascii: "'"))
    }
    add(",sender='", sender?.text)
    add(",path='", path?.text)
    add(",interface='", interface?.text)
    add(",member='", member?.text)
    add(",arg0='", arg0.map(Self.escaped))
    return String(decoding: text, as: UTF8.self)
  }

  /// The argument with escaped apostrophes: the quotes end before each one, and begin again after it.
  private static func escaped(_ argument: String) -> String {
    guard argument.utf8.contains(UInt8(ascii: "'")) else { return argument }
    return argument.unicodeScalars.reduce(into: "") { $0 += $1 == "'" ? #"'\''"# : String($1) }
  }

  /// Whether the rule matches a signal, apart from its sender: a signal has its sender's unique name, but the rule may have a
  /// well-known one.
  func matches(_ signal: Message) -> Bool {
    if let member, signal.member != member { return false }
    if let interface, signal.interface != interface { return false }
    if let path, signal.path != path { return false }
    guard let arg0 else { return true }
    guard signal.signature.text.first == "s" else { return false }
    var reader = MessageReader(signal)
    return (try? reader.next(String.self)) == arg0
  }
}
