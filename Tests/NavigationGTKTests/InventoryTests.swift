import Glibc
import TestSupport
import Testing

// The example Inventory, used with keyboard and pointer, and driven by navctl.

@Test("The list, a page, the sheet, its question, the alert and the popover, used by keyboard and pointer")
func inventory_usedByItsUser_followsItsState() throws {
  let inventory = try Inventory()
  let (program, session) = (inventory.program, inventory.session)
  // The tabs and the button “Help” come first.
  try inventory.press("Tab", "Tab", "Return")
  try inventory.wait(presented: ["destination.help "])
  try program.keyboard.point(20, 700)
  try session.poll("a click beside the popover closes it") {
    try program.keyboard.click()
    return try !session.navctl("list").outputText.contains("destination.help")
  }
  // The focus is on “Help” again.
  try inventory.press("Tab", "Return")
  try inventory.wait(presented: ["path[0] 1"])
  try inventory.press("Return")
  try program.wait(windows: "Inventory", "Item")
  try inventory.press("b", "Escape")
  try program.wait(windows: 3)
  try inventory.press("Escape")
  try program.wait(windows: "Inventory", "Item")
  try inventory.expectSaved("b")

  try inventory.press("Escape")
  try program.wait(windows: "Inventory")
  try inventory.press("Return")
  try program.wait(windows: 2)
  try inventory.press("Tab", "Return")
  try program.wait(windows: "Inventory")
  try inventory.wait(presented: [])
  #expect(program.complaints == [])
}

@Test(
  "A tab keeps its pages while another one is selected, and a deep link of the program opens the tab, the page and the sheet"
)
func inventory_tabs_keepTheirNavigation() throws {
  let inventory = try Inventory()
  #expect(try inventory.navctl("set-path", "inventory.path", "inventory.path[0]=1", "inventory.path[1]=2") == nil)
  try inventory.wait(presented: ["path[0] 1", "path[1] 2"])
  try inventory.press("Tab", "Return")
  try inventory.wait(presented: [], tab: "totals")
  try inventory.press("Left", "Return")
  try inventory.wait(presented: ["path[0] 1", "path[1] 2"])
  #expect(try inventory.navctl("select", "inventory.tab", "totals") == nil)
  try inventory.wait(presented: [], tab: "totals")
  try inventory.press("Tab", "Tab", "Tab", "Return")
  try inventory.program.wait(windows: "Inventory", "Item")
  try inventory.wait(presented: ["path[0] 2", "destination.edit 2"])
  #expect(inventory.program.complaints == [])
}

@Test("navctl drives every binding of the example, and is told what was expected")
func inventory_drivenByNavctl_showsItOrRefuses() throws {
  let inventory = try Inventory()
  let name = "inventory.destination.edit"

  // The path.
  #expect(try inventory.navctl("push", "inventory.path", "inventory.path[0]", "2") == nil)
  try inventory.wait(presented: ["path[0] 2"])
  #expect(
    try inventory.navctl("push", "inventory.path", "inventory.path[1]", "two")
      == "navctl: push inventory.path inventory.path[1]: “inventory.path[1]”: expected an id: Int, found “two”")
  #expect(
    try inventory.navctl("push", "inventory.path", "inventory.path[3]", "1")
      == "navctl: push inventory.path inventory.path[3]: “inventory.path[3]” is not the next element of "
      + "“inventory.path”; expected “inventory.path[1]”")
  // An id of no item: the page cannot be made, which navctl reports if it is so by the time of its question.
  _ = try inventory.navctl("push", "inventory.path", "inventory.path[1]", "99")
  try inventory.session.poll("the page has failed") {
    try inventory.session.navctl("history", "--format", "{binding} {id} {reason}").lines.contains(
      "inventory.path[1] 99 failed")
  }
  try inventory.wait(presented: ["path[0] 2"])

  // A destination with a value.
  func edit(_ words: String...) throws -> String? { try inventory.navctl(["present", name] + words) }
  #expect(
    try edit("2", "--value", "name=Saw", "--value", "count=many")?.contains("expected count: Int, found “many”") == true
  )
  #expect(try edit("2")?.contains("expected count: Int, found nothing") == true)
  #expect(
    try edit("two", "--value", "name=Saw", "--value", "count:=1")?.contains("expected an id: Int, found “two”") == true)
  try inventory.wait(presented: ["path[0] 2"])
  #expect(try edit("2", "--value", "name=Saw", "--value", "count:=1") == nil)
  try inventory.program.wait(windows: "Inventory", "Item")
  try inventory.wait(presented: ["path[0] 2", "destination.edit 2"])
  #expect(try inventory.navctl("dismiss", name) == nil)
  try inventory.program.wait(windows: "Inventory")

  // A destination without a value, and one that only the program can make.
  #expect(
    try inventory.navctl("present", "inventory.destination.help", "3")?.contains("expected no id, found “3”") == true)
  #expect(try inventory.navctl("present", "inventory.destination.help") == nil)
  try inventory.wait(presented: ["path[0] 2", "destination.help "])
  #expect(try inventory.navctl("dismiss", "inventory.destination.help") == nil)
  #expect(
    try inventory.navctl("present", "inventory.destination.delete", "1")?.contains("only the program that shows")
      == true)
  try inventory.wait(presented: ["path[0] 2"])

  // The tabs.
  #expect(try inventory.navctl("select", "inventory.tab", "none")?.contains("expected “items” or “totals”") == true)
  #expect(try inventory.navctl("select", "inventory.tab", "totals") == nil)
  try inventory.wait(presented: [], tab: "totals")
  #expect(try inventory.navctl("select", "inventory.tab", "items") == nil)
  try inventory.wait(presented: ["path[0] 2"])

  // What the tab presents that is out of view.
  #expect(try inventory.navctl("select", "inventory.tab", "totals") == nil)
  #expect(
    try inventory.navctl("push", "inventory.path", "inventory.path[0]", "two")?.contains("expected an id: Int") == true)
  #expect(try inventory.navctl("set-path", "inventory.path", "inventory.path[0]=1", "inventory.path[1]=2") == nil)
  try inventory.wait(presented: [], tab: "totals")
  #expect(try inventory.navctl("select", "inventory.tab", "items") == nil)
  try inventory.wait(presented: ["path[0] 1", "path[1] 2"])
  #expect(try inventory.navctl("select", "inventory.tab", "totals") == nil)
  try inventory.wait(presented: [], tab: "totals")
  try inventory.session.write(
    """
    [["SetPath", "inventory.path", [["inventory.path[0]", "2", {}]], {}], ["Select", "inventory.tab", "items", {}]]
    """, to: "link.json")
  #expect(try inventory.navctl("apply", inventory.session.path("link.json")) == nil)
  try inventory.wait(presented: ["path[0] 2"])
  #expect(try inventory.navctl("pop", "inventory.path") == nil)
  try inventory.wait(presented: [])

  // The window, with which the program ends.
  #expect(try inventory.navctl("dismiss", "inventory.isOpen") == nil)
  try inventory.session.poll("nothing is presented") { try inventory.session.navctl("list").outputText.isEmpty }
  #expect(inventory.program.complaints == [])
}

@Test("Whatever would end the sheet asks for the text that is not saved, and its user keeps it")
func inventory_unsavedText_isNeverLost() throws {
  let inventory = try Inventory()
  let program = inventory.program
  try inventory.editTheFirst()
  func isAsked(_ arguments: String...) throws {
    #expect(try inventory.navctl(arguments) == nil)
    try program.wait(windows: 3)
    try inventory.press("Escape")
    try program.wait(windows: "Inventory", "Item")
    try inventory.wait(presented: ["path[0] 1", "destination.edit 1"])
  }
  let edit = "inventory.destination.edit"
  try isAsked("dismiss", edit)
  try isAsked("present", edit, "2", "--value", "name=Saw", "--value", "count:=1")
  try isAsked("present", edit, "1", "--value", "name=Axe", "--value", "count:=1")
  try isAsked("present", "inventory.destination.help")
  try inventory.expectSaved("b")
  #expect(program.complaints == [])
}

@Test("A killed navd loses nothing: neither the path nor the sheet, nor what is typed while navd is away")
func inventory_navdIsKilled_losesNothing() throws {
  let inventory = try Inventory()
  try inventory.editTheFirst()
  try inventory.session.stop(SIGKILL)
  try inventory.press("c")
  try inventory.session.start()
  try inventory.wait(presented: ["path[0] 1", "destination.edit 1"])
  try inventory.expectSaved("bc")
  #expect(inventory.program.complaints == [])
}

/// The picture in docs/swift.md: `make screenshot`.
@Test(
  "The picture of the example has the page of an item, and its sheet in front of it",
  .enabled(if: getenv("NAVD_SCREENSHOT_GTK") != nil))
func screenshot_inventory_isInTheDocument() throws {
  let inventory = try Inventory(
    configuration: """
      for_window [title="^Inventory$"] floating enable, border normal 1, resize set 400 280, move absolute position 20 20
      for_window [title="^Item$"] floating enable, border normal 1, resize set 260 170, move absolute position 230 250

      """)
  let program = inventory.program
  try program.keyboard.point(1200, 700)
  try inventory.editTheFirst()
  var (last, picture): ([UInt8], [UInt8]) = ([], [])
  // The picture stays the same when everything is drawn.
  try program.session.poll("the picture does not change") {
    last = picture
    picture = try program.session.run(program: "/usr/bin/grim", ["-g", "12,12 486x436", "-"]).output
    return !picture.isEmpty && picture == last
  }
  let file = try #require(fopen(getenv("NAVD_SCREENSHOT_GTK"), "w"))
  #expect(fwrite(picture, 1, picture.count, file) == picture.count && fclose(file) == 0)
}
