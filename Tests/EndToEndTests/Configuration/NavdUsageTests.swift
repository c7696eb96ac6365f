import TestSupport
import Testing
import TextFormats

// The command line of navd, and what its program needs to start.

@Test(
  "navd refuses words that it does not understand, says which, and does not start",
  arguments: [
    (["--log-levl", "info"], "there is no option “--log-levl”; did you mean “--log-level”?"),
    (["--log-level", "loud"], "expected trace, debug, info, notice, warning, error, critical, found “loud”"),
    (["--log-level"], "expected a value after --log-level: the level"),
    (["--json=yes"], "--json has no value, found “yes”"), (["--json"], "--json needs --check-config"),
    (["--check-config", "a", "b"], "expected one directory, found “a” and “b”"),
    (["elsewhere"], "a directory needs --check-config"), (["--", "--json"], "a directory needs --check-config"),
    (["--check-config", ""], "expected a directory, found an empty text"),
    (["--\u{1B}[2J"], "no option “--\\u{1b}[2J”"),
  ])
func navdUsage_wordsThatAreWrong_areRefused(words: [String], mistake: String) throws {
  let session = try Session(starting: false)
  let navd = try session.run(program: Session.program("navd"), words)
  #expect(navd.exitCode == 64)
  #expect(navd.errorText.hasPrefix("Error: ") && navd.errorText.contains(mistake), "\(navd.errorText)")
  #expect(navd.errorText.contains("Usage: navd [--address <address>]"))
  #expect(navd.outputText == "")
}

@Test("navd's help has all its options, in 80 columns")
func navdUsage_help_isWrapped() throws {
  let session = try Session(starting: false)
  let help = try session.run(program: Session.program("navd"), ["--help"]).outputText
  for option in [
    "--address <address>", "--state-directory <directory>", "--log-level <level>", "--check-config", "--json",
    "-V, --version", "-h, --help", "<directory>",
  ] {
    #expect(help.contains("\n  \(option)\n"), "\(option)")
  }
  #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(help)")
  #expect(try session.run(program: Session.program("navd"), ["-h"]).outputText == help)
  #expect(try session.run(program: Session.program("navd"), ["--version"]).outputText.hasPrefix("navd "))
}

@Test("navd is linked without Foundation, which would be a quarter of it")
func navd_libraries_areWithoutFoundation() throws {
  let session = try Session(starting: false)
  // Debug builds name Foundation as a library, and release builds have its symbols.
  func namesFoundation(_ program: String) throws -> Bool {
    try session.run(program: "/usr/bin/readelf", ["-dsW", Session.program(program)]).outputText.contains("Foundation")
  }
  #expect(try !namesFoundation("navd"))
  #expect(try namesFoundation("navctl"))
}

@Test("navd starts without standard input, output and error, and writes its messages to none of its own files")
func navd_standardDescriptorsClosed_answers() throws {
  let session = try Session(starting: false)
  session.wrapper = ["/bin/sh", "-c", "exec \"$0\" \"$@\" <&- >&- 2>&-"]
  try session.start(["--log-level", "trace"])
  try session.present("fact")
  #expect(try session.state()["presentations"]?.array?.count == 1)
}
