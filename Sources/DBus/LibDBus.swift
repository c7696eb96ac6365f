import CDBus

/// The validation of libdbus-1. Assertions and tests compare ours with it.
enum LibDBus {
  static func isObjectPath(_ text: String) -> Bool { dbus_validate_path(text, nil) != 0 }
  static func isBusName(_ text: String) -> Bool { dbus_validate_bus_name(text, nil) != 0 }
  static func isInterfaceName(_ text: String) -> Bool { dbus_validate_interface(text, nil) != 0 }
  static func isErrorName(_ text: String) -> Bool { dbus_validate_error_name(text, nil) != 0 }
  static func isMemberName(_ text: String) -> Bool { dbus_validate_member(text, nil) != 0 }
  static func isSignature(_ text: String) -> Bool { dbus_signature_validate(text, nil) != 0 }

  /// - Parameter message: a message without descriptors.
  static func isMessage(_ message: OutgoingMessage) -> Bool { read(message) != nil }

  /// The message that its recipient reads; nil if it is invalid, or has descriptors.
  static func read(_ message: OutgoingMessage) -> Message? {
    message.numbered.withUnsafeBytes { Message(demarshalling: $0) }
  }
}
