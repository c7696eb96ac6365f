// Why this file exists: commands that take their time, or do what no command should, and say what they do.

import TestSupport

/// A command that writes to the session's journal `start`, `term` when it is told to end, and `end` before it does, each
/// with its binding, its id, and its process number.
enum Actor {
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

  /// A destination file for an actor.
  /// - Parameters:
  ///   - dying: milliseconds from SIGTERM to its end; nil: it does not end by that.
  ///   - more: other lines of the file.
  static func destination(dying: Int?, _ more: String = "") -> String {
    "command = [\"perl\", \"-e\", '''\(script.withoutPlaceholders)''', \"\(dying.map(String.init) ?? "never")\"]\n\(more)\n"
  }
}

extension String {
  /// As it stands in a destination's command, where braces are for placeholders.
  var withoutPlaceholders: String { map { $0 == "{" || $0 == "}" ? "\($0)\($0)" : String($0) }.joined() }
}

extension Session {
  /// What the actors of a binding did, without the binding, and the process numbers left out.
  func acts(of binding: String) -> [String] {
    journalLines.map { $0.split(separator: " ", omittingEmptySubsequences: false) }
      .filter { $0.count == 4 && $0[1] == binding }.map { "\($0[0]) \($0[2])" }
  }

  /// Waits until an actor has done something, as in `start a`.
  func wait(for act: String, of binding: String) throws {
    try wait("the actor of \(binding) says “\(act)”") { acts(of: binding).contains(act) }
  }
}
