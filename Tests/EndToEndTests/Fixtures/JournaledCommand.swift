import TestSupport

/// A command that writes lines to the session's journal: `start`; `term` when it receives SIGTERM; `end` before it
/// exits. Each line also has the command's binding, id and process ID.
enum JournaledCommand {
  private static let script = """
    open my $journal, ">>", $ENV{NAVD_TEST_JOURNAL};
    sub tell_ { syswrite $journal, "$_[0] $ENV{NAVD_BINDING} $ENV{NAVD_ID} $$\\n" }
    $SIG{TERM} = sub {
      tell_("term");
      return if $ARGV[0] eq "never";
      select undef, undef, undef, $ARGV[0] / 1000;
      tell_("end");
      exit 0;
    };
    tell_("start");
    sleep 1 while 1;
    """

  /// The text of a destination file for this command.
  /// - Parameters:
  ///   - delay: the milliseconds from SIGTERM to the command's exit; nil to ignore SIGTERM.
  ///   - more: additional lines of the file.
  static func destination(endingAfter delay: Int?, _ more: String = "") -> String {
    "command = [\"perl\", \"-e\", '''\(script.withoutPlaceholders)''', \"\(delay.map(String.init) ?? "never")\"]\n\(more)\n"
  }
}

extension String {
  /// The text with braces doubled, because single braces in a destination's command begin placeholders.
  var withoutPlaceholders: String { map { $0 == "{" || $0 == "}" ? "\($0)\($0)" : String($0) }.joined() }
}

extension Session {
  /// The journal lines of a binding's commands, without the binding and the process IDs.
  func commandLog(of binding: String) -> [String] {
    journalLines.map { $0.split(separator: " ", omittingEmptySubsequences: false) }
      .filter { $0.count == 4 && $0[1] == binding }.map { "\($0[0]) \($0[2])" }
  }

  /// Waits until a command of a binding has written a line, for example `start a`.
  func wait(for act: String, of binding: String) throws {
    try wait("a command of \(binding) writes “\(act)”") { commandLog(of: binding).contains(act) }
  }
}
