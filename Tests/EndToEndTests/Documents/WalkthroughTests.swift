import TestSupport
import Testing
import TextFormats

// The pages that say what a reader types, and what a terminal prints then: the questions by symptom, and the scripts that navd replaces.

@Test(
  "Each answer of the questions by symptom is what a terminal on sway prints",
  arguments: try Walkthrough.all(in: "faq.md"))
func faq_answer_isWhatATerminalPrints(_ answer: Walkthrough) throws { try answer.run() }

@Test(
  "What a file does in place of a script is what a terminal on sway prints",
  arguments: try Walkthrough.all(in: "migrating.md"))
func migrating_file_doesWhatTheScriptDid(_ example: Walkthrough) throws { try example.run() }

@Test("The scripts that navd replaces are shell, and the files beside them have no mistakes")
func migrating_scriptsAndFiles_haveNoMistakes() throws {
  let blocks = try Markdown("migrating.md").blocks
  let session = try Session(starting: false)
  let scripts = blocks.filter { $0.kind == "sh" }
  #expect(scripts.count >= 6)
  for script in scripts {
    try session.write(script.text, to: "script")
    let run = try session.run(program: "/bin/bash", ["-n", session.path("script")])
    #expect(run.exitCode == 0 && run.errorText == "", "line \(script.line): \(run.errorText)")
  }
  let directory = "# ~/.config/"
  let files = blocks.filter { $0.kind == "toml" && $0.lines.first?.hasPrefix(directory) == true }
  #expect(files.count >= 8)
  for file in files { try session.write(file.text, to: "config/\(file.lines[0].dropFirst(directory.count))") }
  let run = try session.navctl("check-config", "--json")
  #expect(run.json?["faults"]?.array == [], "\(run.outputText)")
  for warning in run.json?["warnings"]?.array ?? [] {
    #expect(warning["message"]?.string?.contains("not found in PATH") == true, "\(warning)")
  }
}
