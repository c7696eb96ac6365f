// Why this file exists: what the bus is asked to send and what is handed on here has to be the same.

import DBusValues

/// Which signals are wanted; nil for whatever it be ("D-Bus Specification", *Match Rules*).
public struct MatchRule: Hashable, Sendable {
  public var sender: BusName?
  public var path: ObjectPath?
  public var interface: InterfaceName?
  public var member: MemberName?
  /// The first argument, a string.
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

  /// As the bus wants it.
  var text: String {
    var text = "type='signal'"
    if let sender { text += ",sender='\(sender)'" }
    if let path { text += ",path='\(path)'" }
    if let interface { text += ",interface='\(interface)'" }
    if let member { text += ",member='\(member)'" }
    // An apostrophe ends the quotes, stands escaped, and opens them anew.
    if let arg0 {
      text += ",arg0='\(arg0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }
    return text
  }

  /// Whether a signal is wanted, the sender left out: a well-known one is only known by its owner.
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
