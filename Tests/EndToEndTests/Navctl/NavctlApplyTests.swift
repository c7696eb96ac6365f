import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl apply, which carries out a file of requests as one transaction.

@Test("navctl apply: reads a file or standard input, and applies it as one transaction")
func navctlApply_ofAFileOrStandardInput_isOneTransaction() throws {
  let session = try Session()
  let text = """
    [
      ["Present", "settings", "1", {"stack": "main", "title": "Settings", "state": true}],
      ["Push", "main", "network", "", {"state": true}],
      ["Select", "panels", "volume", {"state": true}],
      ["Present", "gone", "", {"state": true}],
      ["Dismiss", "gone", {}]
    ]
    """
  let path = session.path("requests.json")
  try session.write(text, to: "requests.json")
  let first = try session.navctl("apply", path, "--json")
  #expect(first.exitCode == 0, "\(first.errorText)")
  let presentation = CoordinatorNames.presentation(1).text
  #expect(first.json?["serial"] == 6)
  #expect(first.json?["replies"]?.array?.first == ["Present", .string(presentation), 1, true])
  #expect(first.json?["replies"]?.array?.last == ["Dismiss", false])
  #expect(try session.navctl("path", "main").outputText == "settings\t1\nnetwork\t\n")

  // The same requests again change and print nothing.
  let again = try session.navctl("apply", "-", input: text)
  #expect(again.exitCode == 0)
  #expect(again.outputText == "" && again.errorText == "")
  #expect(try session.state()["serial"] == 6)
}

@Test(
  "navctl apply: a mistake in the JSON is reported with line and column, and navd is not called",
  arguments: [
    ("[[\"Present\",\"a\",\"\",{}],\n [\"Present\",\"b\",\"\",{]]", "line 2, column 21: expected a name in quotes"),
    (
      "[[\"Present\",\"a\",\"\",{}],\n\n  [\"Presnt\",\"b\",\"\",{}]]",
      "line 3, column 4: request 1: “Presnt” cannot be in a list of requests"
    ),
    ("[[\"Present\",\"a\",\"\",{}],[\"Dismiss\",7,{}]]", "line 1, column 35: request 1: expected a string (s)"),
    ("[[\"Present\",\"a\",\"\",{\"timeout\":\"3s\"}]]", "line 1, column 31: request 0: expected an integer (t)"),
    ("", "line 1, column 1: expected a value"),
    ("[[]]", "line 1, column 2: request 0: expected a list of a method's name and its arguments, found an empty list"),
    ("[[1]]", "line 1, column 3: request 0: expected a method's name, found an integer"),
    ("{}", "line 1, column 1: expected a list of requests, found an object"),
  ])
func navctlApply_mistakeInTheJSON_hasItsPosition(text: String, message: String) throws {
  let session = try Session()
  let before = try session.state()
  let run = try session.navctl("apply", "-", input: text)
  #expect(run.exitCode == 2)
  #expect(run.errorText.hasPrefix("navctl: apply -: \(message)"), "\(run.errorText)")
  #expect(run.outputText == "")
  #expect(try session.state() == before && before["serial"] == 0)
}

@Test("navctl apply: a refused request is reported with its index, and nothing changes, not even the serial")
func navctlApply_refused_namesTheRequest() throws {
  let session = try Session()
  try session.present("held", "1", ["group": .string("g")])
  try session.call(CoordinatorInterface.declareContainerValue, ("badge", .byte(0)))
  let before = try session.state()
  for (request, status, message) in [
    (#"["Present","x","",{"destination":"nowhere"}]"#, 4, "request 40: there is no destination “nowhere”; write"),
    (#"["Present","x[","",{}]"#, 2, "request 40: binding “x[”"),
    (
      #"["Present","x","",{"group":"g","if-busy":"refuse","state":true}]"#, 6,
      "request 40: group “g” has “held” selected"
    ),
    (#"["PopTo","s","x",{}]"#, 3, "request 40: "),
    (#"["Present","x","",{"container-values":{"k":1},"state":true}]"#, 4, "request 40: key “k” is not declared"),
    (
      #"["SetPath","s",[["x","",{"container-values":{"k":1}}]],{"state":true}]"#, 4,
      "request 40: key “k” is not declared"
    ),
    (
      #"["Present","x","",{"container-values":{"badge":"1"},"state":true}]"#, 2, "request 40: container value “badge”: "
    ),
    (#"["Dismiss","held",{"expected-id":"2"}]"#, 6, "request 40: expected-id is “2”"),
  ] as [(String, Int32, String)] {
    let requests = (0..<50).map { $0 == 40 ? request : "[\"Present\",\"slot[\($0)]\",\"\",{\"state\":true}]" }
    let run = try session.navctl("apply", "-", input: "[\(requests.joined(separator: ",\n"))]")
    #expect(run.exitCode == status, "\(request)")
    #expect(run.errorText.hasPrefix("navctl: apply -: \(message)"), "\(run.errorText)")
    #expect(try session.state() == before)
  }
  let stale = try session.navctl("apply", "-", "--expected-serial", "0", input: "[]")
  #expect(stale.exitCode == 6)
}

@Test("navctl apply: an unreadable file is reported")
func navctlApply_unreadableFile_isReported() throws {
  let session = try Session()
  for (path, why) in [("/nowhere/requests", "No such file or directory"), ("/", "Is a directory")] {
    let run = try session.navctl("apply", path)
    #expect(run.exitCode == 1)
    #expect(run.errorText == "navctl: apply \(path): cannot read the file: \(why); “-” reads standard input\n")
  }
}
