import Testing

@testable import SessionFiles

// The command lines of desktop files: the quoting and the field codes of the Desktop Entry Specification.

private let fields = ExecLine.Fields(icon: "calc", name: "Rechner", path: "/usr/share/applications/a.desktop")

/// The arguments of an `Exec` line, given as it stands in a file.
private func arguments(_ exec: String, _ fields: ExecLine.Fields = fields) throws -> [String] {
  let file = DesktopFile(Array("[Desktop Entry]\nExec=\(exec)\n".utf8))
  return try ExecLine(try #require(file["Exec"]), fields).arguments
}

@Test(
  "Arguments are separated by blanks, and quotes keep their content together",
  arguments: [
    ("gimp", ["gimp"]), ("gimp --new  -a", ["gimp", "--new", "-a"]), (#"gimp "two words""#, ["gimp", "two words"]),
    (#"gimp "" x"#, ["gimp", "", "x"]), (#""/opt/My Program/run" -x"#, ["/opt/My Program/run", "-x"]),
    // GLib reads this quoting, and files of Wine and others need it.
    (#"sh -c 'a "b" c'"#, ["sh", "-c", #"a "b" c"#]),
    (#"wine C:\\\\windows\\\\a\\ b.exe"#, ["wine", #"C:\windows\a b.exe"#]),
  ])
func execLine_quotes_areTakenAway(exec: String, expected: [String]) throws { #expect(try arguments(exec) == expected) }

@Test(
  "The escapes of strings come before those of quotes: four backslashes become one, and so do two before another sign",
  arguments: [
    (#"a "\\\\""#, [#"\"#]), (#"a "\\$HOME""#, ["$HOME"]), (#"a "\\"b\\"""#, [#""b""#]), (#"a "\\`id\\`""#, ["`id`"]),
    (#"a "x\\\\y""#, [#"x\y"#]), (#"a\sb"#, ["b"]), (#"a "b\tc""#, ["b\tc"]),
  ])
func execLine_escapes_areThoseOfBothRules(exec: String, expected: [String]) throws {
  #expect(try arguments(exec).dropFirst() == expected[...])
}

@Test(
  "The field codes for files and URLs expand to nothing, since none are given; the others stand for values of the file",
  arguments: [
    ("a %f", []), ("a %F -x", ["-x"]), ("a %u %U", []), ("a --file=%f", ["--file="]), ("a %d %D %n %N %v %m", []),
    ("a %i", ["--icon", "calc"]), ("a %c", ["Rechner"]), ("a -n %c!", ["-n", "Rechner!"]),
    ("a %k", ["/usr/share/applications/a.desktop"]), ("a 100%%", ["100%"]), (#"a "%%""#, ["%"]),
  ])
func execLine_fieldCodes_areExpanded(exec: String, expected: [String]) throws {
  #expect(try arguments(exec).dropFirst() == expected[...])
}

@Test func execLine_withoutAnIcon_hasNoOptionForIt() throws {
  for icon in [nil, ""] {
    #expect(try arguments("a %i b", ExecLine.Fields(icon: icon, name: "A", path: "/a")) == ["a", "b"])
  }
}

@Test("A long word is read, and field codes expand to no more than the limit of a command")
func execLine_long_isReadOrRefused() throws {
  let long = String(repeating: "a", count: 1 << 19)
  #expect(try arguments("x \(long)") == ["x", long])
  let codes = "x " + String(repeating: "%c", count: 1 << 16)
  let mistake = #expect(throws: ExecLine.Mistake.self) {
    try ExecLine(codes, ExecLine.Fields(name: long, path: "/a"))
  }
  #expect(mistake?.why.contains("at most 1048576 bytes") == true)
}

@Test(
  "An invalid command line is refused with the reason",
  arguments: [
    (#"a "b"#, "expected another \""), ("a %x", "found “%x”"), ("a %", "found “%”"), (" ", "expected a program"),
    ("%f", "expected a program"), (#""""#, "expected a program"),
  ])
func execLine_invalid_saysWhy(exec: String, why: String) {
  let mistake = #expect(throws: ExecLine.Mistake.self) { try ExecLine(exec, fields) }
  #expect(mistake?.why.contains(why) == true, "\(mistake?.why ?? "")")
}
