import TextFormats

/// The form of a variable for commands.
public enum EnvironmentVariable {
  /// Variables about the start of one program, most of them set by a service manager or the bus for a service.
  public static let ofOneProgram: Set<String> = [
    "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "DESKTOP_STARTUP_ID", "INVOCATION_ID", "JOURNAL_STREAM",
    "LISTEN_FDNAMES", "LISTEN_FDS",
    "LISTEN_PID", "MANAGERPID", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC",
    "XDG_ACTIVATION_TOKEN",
  ]

  /// Refuses a variable that a client cannot set for commands.
  /// - Throws: `Refusal` with the code `invalidArgument`.
  package static func check(_ name: String, _ value: String) throws(Refusal) {
    guard BindingID.isName(name), !name.utf8.contains(UInt8(ascii: "-")) else {
      throw Refusal(
        .invalidArgument,
        "variables: expected names of letters, digits and “_” that do not begin with a digit, found \(quoted(name))")
    }
    if name.hasPrefix("NAVD_") {
      throw Refusal(.invalidArgument, "variables: \(quoted(name)) is set by navd for each command; leave it out")
    }
    if ofOneProgram.contains(name) {
      throw Refusal(.invalidArgument, "variables: \(quoted(name)) is about the start of one program; leave it out")
    }
    if value.utf8.contains(0) {
      throw Refusal(.invalidArgument, "variables: \(quoted(name)) has a NUL character, which no command can get")
    }
  }
}
