import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing
import TextFormats

// Limits as users see them: published, documented, and explained (L1). PresentationRulesTests has the limits themselves.

extension Session {
  /// The limits by name, as navd publishes them.
  func limits() throws -> [String: Int] {
    let value = try call(PropertyAccessing.get, (CoordinatorInterface.name.text, "Limits"))
    return ([String: UInt64](value: value) ?? [:]).mapValues { Int($0) }
  }
}

@Test("L1: every published limit is documented with its value")
func limit_ofEachName_isDocumented() throws {
  let lines = try Markdown("limits.md").lines
  for (name, most) in try Session().limits() {
    #expect(lines.contains { $0.hasPrefix("| `\(name)` | \(most) | ") }, "\(name)")
  }
}

@Test("L1: navctl exits with 6 when a limit is exceeded, and names the limit and the allowed values")
func limit_inNavctl_isExplained() throws {
  let session = try Session()
  // The requests refer to this item.
  try session.present("b")
  let long = String(repeating: "x", count: 5000)
  let many = (0..<5000).map { "[\"Present\",\"n[\($0)]\",\"\",{}]" }.joined(separator: ",")
  for (run, verb, limit) in [
    (try session.navctl("present", "--state", "a", long), "present a", "text"),
    (try session.navctl("present", "--state", "a", "--title", long), "present a", "text"),
    (try session.navctl("apply", "-", input: "[\(many)]"), "apply -", "transaction"),
    (try session.navctl("act", "1", long), "act 1 \(long.prefix(200))", "text"),
  ] {
    #expect(run.exitCode == 6, "\(run.errorText)")
    #expect(run.errorText.hasPrefix("navctl: \(verb)"), "\(run.errorText)")
    #expect(run.errorText.utf8.count < 1000)
    #expect(run.errorText.contains("(limit “\(limit)”); "), "\(run.errorText)")
    #expect(run.errorText.count { $0 == "\n" } == 1)
  }
}
