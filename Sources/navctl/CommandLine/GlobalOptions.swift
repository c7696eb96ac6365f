import ArgumentParser

/// Options of every verb, before or after its name.
struct GlobalOptions: ParsableArguments {
  /// The options below whose value is a separate argument.
  static let takingValues = ["-w", "--within", "--address", "-H", "--host"]

  @Flag(help: "Print one line of JSON.")
  var json = false

  @Flag(
    name: .shortAndLong,
    help: "Print nothing but errors; only the exit status tells the result. Not for verbs that print until they end.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print more, such as the number of what was opened.")
  var verbose = false

  @Flag(help: "Leave out titles and explanations of tables.")
  var noLegend = false

  @Flag(
    name: .customLong(DesktopNotification.option),
    help: """
      Show a failure also as a notification of the desktop. What is opened is watched for two seconds: a program that \
      ends at once in that time, with another status than 0, has failed.
      """)
  var notifies = false

  @Option(
    name: [.customShort("w", allowingJoined: true), .long],
    help: ArgumentHelp("Give up after this long (exit status 5).", valueName: "seconds"),
    transform: { try $0.duration() })
  var within: UInt64?

  @Option(help: "Address of the bus to use instead of the session bus.")
  var address: String?

  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp(
      "Work on another machine, over ssh, in the session of that user.", valueName: "[user@]host"),
    transform: RemoteHost.init(argument:))
  var host: RemoteHost?

  func validate() throws {
    if address != nil, host != nil { throw ValidationError("use either --address or --host, not both") }
  }

  /// - Throws: `ValidationError` for `--quiet` with a verb whose only purpose is to print until it ends.
  func requirePrinting() throws {
    if quiet { throw ValidationError("--quiet is not supported, since this prints until it ends") }
  }

  /// - Throws: `ValidationError` if both a format and `--json` are given, or the format names an unknown field.
  func check(_ format: OutputTemplate?, _ fields: @autoclosure () -> TemplateFields) throws {
    if let format { try format.require(fields()) }
    if json, format != nil { throw ValidationError("use either --format or --json, not both") }
  }
}

extension GlobalOptions {
  /// The options for a short question about names, of which nobody has to wait long for the answer.
  /// - Parameter words: a command line that may be incomplete or wrong.
  /// - Returns: nil for a command line about another machine, which may be far.
  static func forNames(in words: [String]) -> Self? {
    guard !words.contains(where: { $0.hasPrefix("-H") || $0.hasPrefix("--host") }) else { return nil }
    var global = Self.notGiven
    global.within = 1000
    if let index = words.firstIndex(of: "--address"), words.indices.contains(index + 1) {
      global.address = words[index + 1]
    }
    return global
  }
}
