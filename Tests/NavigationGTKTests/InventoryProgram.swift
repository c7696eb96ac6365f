import TestSupport
import Testing

/// The example in a session with navd.
struct Inventory {
  let program: GTKProgram
  var session: Session { program.session }

  init(configuration: String = "", function: String = #function) throws {
    program = try GTKProgram("Inventory", configuration: configuration, function: function)
    try program.wait(windows: "Inventory")
    try wait(presented: [])
  }

  func press(_ keys: String...) throws { for key in keys { try program.keyboard.press(key) } }

  /// Waits until exactly these bindings and ids are presented, as navd knows it, beside the window and the selected tab.
  func wait(presented bindings: [String], tab: String = "items") throws {
    let all = Set((bindings + ["isOpen ", "tab.\(tab) "]).map { "inventory.\($0) presented" })
    var found: [String] = []
    do {
      try session.poll("all is presented") {
        found = try session.navctl("list", "--format", "{binding} {id} {phase}").lines
        return Set(found) == all
      }
    } catch {
      throw Session.Failure("expected \(all.sorted()), found \(found.sorted())\n\(error)")
    }
  }

  /// Runs navctl.
  /// - Returns: the text of its error; nil for success.
  func navctl(_ arguments: String...) throws -> String? { try navctl(arguments) }

  func navctl(_ arguments: [String]) throws -> String? {
    let run = try session.run(program: session.executable("navctl"), arguments)
    if run.exitCode == 0 { return nil }
    return run.errorText.hasSuffix("\n") ? String(run.errorText.dropLast()) : run.errorText
  }

  /// Opens the page of the first item and its sheet, and types a name that is not saved.
  func editTheFirst() throws {
    // The tabs and the button “Help” come before the list.
    try press("Tab", "Tab", "Tab", "Return")
    try wait(presented: ["path[0] 1"])
    try press("Return")
    try program.wait(windows: "Inventory", "Item")
    try press("b")
  }

  /// Saves the sheet, and looks at the name in the question of the page's button “Delete”.
  func expectSaved(_ name: String) throws {
    // The field of the name has the focus; “Save” is the third widget after it.
    try press("Tab", "Tab", "Tab", "Return")
    try program.wait(windows: "Inventory")
    try wait(presented: ["path[0] 1"])
    // “Edit” has the focus.
    try press("Tab", "Return")
    try program.wait(windows: 2)
    let titles = try session.navctl("list", "--format", "{binding}={title}").lines
    #expect(titles.contains("inventory.destination.delete=Delete “\(name)”?"), "\(titles)")
  }
}
