import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing

// The verbs of navctl for groups, stacks and container values.

/// A command line with its expected output and exit status.
private struct Line: CustomStringConvertible {
  let arguments: [String]
  let output: String
  let status: Int32
  var description: String { "navctl \(arguments.joined(separator: " "))" }

  init(_ arguments: String, _ output: String = "", _ status: Int32 = 0) {
    self.arguments = arguments.split(separator: " ").map(String.init)
    self.output = output
    self.status = status
  }
}

extension Session {
  fileprivate func check(_ lines: [Line], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
    for line in lines {
      let run = try run(program: Self.program("navctl"), line.arguments)
      #expect(run.outputText == line.output, "\(line)", sourceLocation: sourceLocation)
      #expect(run.exitCode == line.status, "\(line): \(run.errorText)", sourceLocation: sourceLocation)
    }
  }
}

@Test("navctl select, deselect, toggle-selection and selection work on a group")
func navctl_groupVerbs_selectAndPrintTheSelection() throws {
  let session = try Session()
  try session.check([
    Line("selection panels", "", 3), Line("selection panels --json", #"{"group":"panels"}"# + "\n", 3),
    Line("select panels volume --state"), Line("selection panels", "volume\n"),
    Line("selection panels --json", #"{"group":"panels","selection":"volume"}"# + "\n"),
    Line("select panels volume --json --state", #"{"changed":false,"presentation":1,"serial":3}"# + "\n"),
    Line("select panels wifi -v --state", "2\n"), Line("select panels bluetooth --if-busy refuse --state", "", 6),
    Line("select panels bluetooth --if-busy queue --priority 5 -v --state", "3\n"),
    Line("select panels battery --if-busy queue --priority 7 --state"),
    Line("deselect panels volume --json", #"{"changed":false,"serial":11}"# + "\n"),
    // The highest priority of the queue is next (G9).
    Line("deselect panels wifi"), Line("selection panels", "battery\n"),
    Line("toggle-selection panels battery -v --state", "deselected\n"), Line("selection panels", "bluetooth\n"),
    Line("toggle-selection panels volume --json --state", #"{"changed":true,"selected":true,"serial":23}"# + "\n"),
    Line("list --group panels", "5\tpanels.volume\t\tpresented\t\tpanels\tvolume\t\t\n"),
    Line("present mixer 1 --group panels --tag sound --state"), Line("selection panels", "sound\n"),
    Line("dismiss --group panels --json", #"{"changed":true,"count":1,"serial":30}"# + "\n"),
    Line("selection panels", "", 3), Line("deselect panels -q"),
    // An invalid name is an error, unlike a group without selection.
    Line("selection panels[", "", 2), Line("list --group panels[", "", 2), Line("list --group others"),
  ])
}

@Test("navctl push, pop, pop-to, set-path and path work on a stack")
func navctl_stackVerbs_changeAndPrintThePath() throws {
  let session = try Session()
  try session.check([
    Line("path main", "", 4), Line("path main --json", "", 4), Line("push main settings 1 --state"),
    Line("push main network -v --state", "2\n"), Line("push main network --state", ""),
    Line("push main settings --state", "", 6),
    Line("push other network --state", "", 6), Line("path main", "settings\t1\nnetwork\t\n"),
    Line("path main --json", #"[{"binding":"settings","id":"1"},{"binding":"network","id":""}]"# + "\n"),
    Line("push main wifi --json --state", #"{"changed":true,"presentation":3,"serial":6}"# + "\n"),
    Line("pop main -v", "1\n"), Line("pop main 0 --json", #"{"changed":false,"popped":0,"serial":8}"# + "\n"),
    Line("pop-to main nowhere", "", 3), Line("pop-to main settings -v", "1\n"),
    Line("set-path main settings=1 network=2 about --json --state", #"{"presentations":[1,4,5],"serial":13}"# + "\n"),
    Line("set-path main settings=1 about -v --state", "1\n6\n"), Line("path main", "settings\t1\nabout\t\n"),
    // These elements have no binding (S5).
    Line("set-path plain =a =a --state"), Line("path plain", "plain[0]\ta\nplain[1]\ta\n"),
    Line("list --stack plain", "7\tplain[0]\ta\tpresented\t\t\t\tplain\t\n8\tplain[1]\ta\tpresented\t\t\t\tplain\t\n"),
    // The path is refused as a whole (S6).
    Line("set-path plain =a b[ =c --state", "", 2), Line("path plain", "plain[0]\ta\nplain[1]\ta\n"),
    Line("set-path plain --state"), Line("path plain", "", 4), Line("pop-to main", ""), Line("path main", "", 4),
    Line("path main[", "", 2), Line("list --stack main[", "", 2), Line("list --stack others"),
    Line("dismiss --stack main --json", #"{"changed":false,"count":0,"serial":26}"# + "\n"),
    Line("push main mixer --group panels --tag sound --state"), Line("selection panels", "sound\n"),
    // The element would stand on the member that it deselects (C7).
    Line("push main wifi --group panels --state", "", 2), Line("path main", "mixer\t\n"),
  ])
}

@Test("navctl value declares, prints and sets container values; every verb reads them as their declared types")
func navctl_valueVerbs_readTheDeclaredType() throws {
  let session = try Session()
  try session.check([
    Line("value declare badge y 0"), Line("value declare badge y 0"), Line("value declare badge y 1", "", 2),
    Line("value declare badge x 0", "", 2), Line(#"value declare tags as ["a"]"#), Line("value declare name s 7"),
    Line("present inbox --container-value badge=3 --container-value name=5 --state"),
    Line("value get inbox badge", "3\n"),
    Line("value get inbox name --json", "\"5\"\n"), Line("value get inbox tags", "[\"a\"]\n"),
    Line("value set inbox badge 300", "", 2),
    Line("value set inbox badge 255 --json", #"{"changed":true,"serial":2}"# + "\n"),
    Line("value set inbox badge 255 --json", #"{"changed":false,"serial":2}"# + "\n"),
    Line("value set inbox colour red", "", 4), Line("value get outbox badge", "", 3),
    Line("push main one --container-value badge=9 --state"),
    Line("select panels two --container-value badge=8 --state"),
    Line(
      "members --stack main --json",
      #"[{"binding":"one","container-values":{"badge":9,"name":"7","tags":["a"]},"id":"","presentation":2}]"# + "\n"),
    Line("members --group panels", "3\tpanels.two\t\t" + #"{"badge":8,"name":"7","tags":["a"]}"# + "\n"),
  ])
  // A transaction reads the declared type, too.
  let text = #"[["Present","three","",{"container-values":{"badge":7},"state":true}]]"#
  #expect(try session.navctl("apply", "-", input: text).exitCode == 0)
  #expect(try session.call(CoordinatorInterface.containerValue, ("three", "badge")) == .byte(7))
}

@Test("The id of a command without an id is its command line, also for select and toggle-selection")
func navctl_selectCommand_hasItsCommandLineAsID() throws {
  let session = try Session()
  #expect(try session.navctl("select", "g", "a", "--", "sleep", "1000").exitCode == 0)
  #expect(try session.call(CoordinatorInterface.get, "g.a").1["id"] == .string("sleep 1000"))
  #expect(try session.navctl("select", "g", "a", "--", "sleep", "2000").exitCode == 0)
  #expect(try session.call(CoordinatorInterface.get, "g.a").1["id"] == .string("sleep 2000"))
  #expect(try session.navctl("toggle-selection", "g", "b", "--", "sleep", "3000").exitCode == 0)
  #expect(try session.call(CoordinatorInterface.get, "g.b").1["id"] == .string("sleep 3000"))
}

@Test("A group's name with a blank is refused in words of its reader")
func navctl_groupWithABlank_isExplained() throws {
  let session = try Session()
  for arguments in [["select", "my panels", "x"], ["present", "x", "--state", "--group", "my panels"]] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 2, "\(arguments)")
    #expect(
      run.errorText.hasSuffix("group “my panels” contains a blank; letters, digits, _ and - are allowed\n"),
      "\(run.errorText)")
  }
}
