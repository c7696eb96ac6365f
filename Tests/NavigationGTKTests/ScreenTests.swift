import EventLoops
import Glibc
import TestSupport
import Testing

// Screens of every kind on a real desktop: their users, navctl and the state close them.

/// Waits until only the main window is left, and no object of the screens that were there.
func expectNothingIsLeft(of program: GTKProgram) throws {
  var counts = ""
  // A widget is finalized when its last animation has ended.
  try program.session.poll("all objects are gone") {
    counts = try program.ask("count")
    let numbers = counts.split(separator: " ").prefix(3).compactMap {
      $0.split(separator: "=").last.flatMap { Int($0) }
    }
    return numbers.count == 3 && numbers[0] == numbers[1] && numbers[2] == 1
  }
  #expect(program.complaints == [])
}

/// Opens a note beside the main window, and types a text that is not saved.
private func writeNote(in program: GTKProgram) throws {
  program.send("note 1")
  try program.wait(windows: "Main", "Note 1")
  try program.keyboard.press("b")
  try program.wait(for: "text=b")
}

@Test("Sheets follow their state, one after the other; Escape, the close button and navctl write nil")
func gtk_sheet_closedByAnybody_isNil() throws {
  let program = try GTKProgram("gtk-screens")
  try program.wait(windows: "Main")

  program.send("sheet 1")
  try program.wait(windows: "Main", "Sheet 1")
  try program.keyboard.press("Escape")
  try program.wait(for: "sheet=nil")

  program.send("sheet 2")
  try program.wait(windows: "Main", "Sheet 2")
  try program.click(on: "close")
  try program.wait(for: "sheet=nil")

  program.send("sheet 3")
  try program.wait(windows: "Main", "Sheet 3")
  program.send("sheet 4")
  try program.wait(windows: "Main", "Sheet 4")
  let order = program.events.filter { $0 == "close Sheet 3" || $0 == "new Sheet 4" }
  #expect(order == ["close Sheet 3", "new Sheet 4"])
  #expect(try program.session.navctl("dismiss", "screens.sheet").exitCode == 0)
  try program.wait(for: "sheet=nil")

  try program.wait(windows: "Main")
  try expectNothingIsLeft(of: program)
}

@Test("The handlers of a widget that is gone are released, while its screen goes on")
func gtk_handlersOfWidgetsThatAreGone_areReleased() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"])
  try program.wait(windows: "Main")
  #expect(try program.ask("rows 100") == "0")
  #expect(program.complaints == [])
}

@Test("A popover closes by a click beside it, an alert by its buttons and Escape", arguments: [false, true])
func gtk_popoverAndAlert_closedByTheirUser_areNil(isPlain: Bool) throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: isPlain)
  try program.wait(windows: "Main")

  try program.click(on: "anchor")
  try program.wait(untilShown: "a-hint")
  try program.keyboard.point(20, 700)
  try program.keyboard.click()
  try program.wait(for: "hint=false")
  program.send("hint true")
  try program.wait(untilShown: "a-hint")
  try program.keyboard.press("Escape")
  try program.wait(for: "hint=false")

  program.send("dialog Sure?")
  try program.click(on: "Delete")
  try program.wait(for: "dialog=nil", "answer=delete")
  program.send("dialog Again?")
  try program.wait(untilShown: "Delete")
  try program.keyboard.press("Escape")
  try program.wait(for: "dialog=nil", "answer=delete")
  program.send("dialog Really?")
  try program.wait(untilShown: "Delete")
  program.send("dialog")
  try program.wait(untilGone: "Delete")

  try expectNothingIsLeft(of: program)
}

@Test("The button and the keys that go back shorten the path; of a group one page is shown", arguments: [false, true])
func gtk_pages_goneBackFrom_shortenThePath(isPlain: Bool) throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: isPlain)
  try program.wait(windows: "Main")

  program.send("path 1 2 4 3")
  try program.wait(untilShown: "page-3")
  try program.click(on: "back")
  try program.wait(for: "path=[1, 2, 4]")
  try program.keyboard.press("alt+Left")
  try program.wait(for: "path=[1, 2]")
  try program.keyboard.press("Escape")
  try program.wait(for: "path=[1]")
  try program.keyboard.press("Escape")
  try program.wait(for: "path=[]")

  program.send("panel help")
  try program.wait(untilShown: "help")
  program.send("panel history")
  try program.wait(untilShown: "history")
  #expect(try program.ask("where help") == "nowhere")
  program.send("panel")

  try expectNothingIsLeft(of: program)
}

@Test("A window with unsaved text asks: it stays, goes, or is forced")
func gtk_unsavedText_declines_byADialog() throws {
  let program = try GTKProgram("gtk-screens", isPlain: true)
  try program.wait(windows: "Main")

  try writeNote(in: program)
  try program.keyboard.press("Escape")
  try program.wait(untilShown: "Discard")
  try program.keyboard.press("Escape")
  try program.session.poll("the window stays") {
    try !program.session.navctl("list").outputText.contains("dismissing")
  }
  try program.wait(for: "note=1", "kept=1")
  // A change of the state asks, too, and gets its note back.
  program.send("note")
  try program.wait(untilShown: "Discard")
  try program.keyboard.press("Escape")
  try program.wait(for: "note=1", "kept=2")
  try program.wait(windows: "Main", "Note 1")

  // An open question goes with its window, if the window is forced to close.
  try program.keyboard.press("Escape")
  try program.wait(untilShown: "Discard")
  #expect(try program.session.navctl("dismiss", "--force", "screens.note").exitCode == 0)
  try program.wait(for: "note=nil")
  try program.wait(windows: "Main")

  program.send("note 2")
  try program.wait(windows: "Main", "Note 2")
  try program.keyboard.press("b")
  try program.wait(for: "text=b")
  try program.keyboard.press("Escape")
  try program.click(on: "Discard")
  try program.wait(for: "note=nil")
  try program.wait(windows: "Main")
  try expectNothingIsLeft(of: program)
}

@Test("A second dialog with the same title is another alert")
func gtk_dialog_sameTitle_isAnotherAlert() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("dialog Sure?")
  try program.wait(untilShown: "Delete")
  try program.wait(for: "dialog=Sure?", "alerts=1")
  program.send("dialog Sure?")
  try program.wait(for: "dialog=Sure?", "alerts=2")
  try program.wait(windows: 2)
  try program.click(on: "Delete")
  try program.wait(for: "dialog=nil", "answer=delete")
  try expectNothingIsLeft(of: program)
}

@Test("Controls and the focus of the keyboard follow the state, and the state follows their user")
func gtk_controls_boundToState_agree() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("focus name")
  program.send("form 1")
  try program.wait(windows: "Main", "Form")
  try program.wait(untilShown: "name")
  try program.wait(for: "form= false 1.0", "focus=name")
  // The text has the focus, because the state says so.
  try program.keyboard.press("b")
  try program.wait(for: "form=b false 1.0")
  try program.send("name Ada", untilState: "form=Ada")
  try program.send("number 7", untilState: "form=Ada false 7.0")
  try program.click(on: "check")
  try program.wait(for: "form=Ada true 7.0", "focus=box")
  program.send("focus name")
  try program.wait(for: "focus=name")
  try program.keyboard.press("c")
  try program.wait(for: "form=c true 7.0")
  program.send("form")
  try program.wait(windows: "Main")
  try expectNothingIsLeft(of: program)
}

@Test("A window that the program itself destroys is closed, also one with unsaved text")
func gtk_window_destroyedByTheProgram_isNil() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("sheet 1")
  try program.wait(windows: "Main", "Sheet 1")
  program.send("destroy Sheet 1")
  try program.wait(for: "sheet=nil")
  try writeNote(in: program)
  program.send("destroy Note 1")
  try program.wait(for: "note=nil")
  program.send("sheet 2")
  try program.wait(windows: "Main", "Sheet 2")
  program.send("sheet")
  try program.wait(windows: "Main")
  try expectNothingIsLeft(of: program)
}

@Test("An alert that the program answers with the number of no button counts as answered by Escape")
func gtk_alert_answeredByTheProgram_isNil() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("dialog Sure?")
  try program.wait(untilShown: "Delete")
  program.send("respond 99")
  try program.wait(for: "dialog=nil", "answer=nil")
  try writeNote(in: program)
  program.send("note")
  try program.wait(untilShown: "Discard")
  program.send("respond 99")
  try program.wait(for: "note=1", "text=b")
  try program.wait(windows: "Main", "Note 1")
}

@Test("A popover ends with the widget at which it points, and an area of pages with its pages")
func gtk_anchorAndArea_removedByTheProgram_endTheirScreens() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("hint true")
  try program.wait(untilShown: "a-hint")
  program.send("remove anchor")
  try program.wait(for: "hint=false")
  // A popover without its widget is not shown.
  try program.send("hint true", untilState: "hint=false")
  program.send("panel help")
  try program.wait(untilShown: "help")
  program.send("remove area")
  try program.wait(for: "panel=nil")
  try program.send("panel history", untilState: "panel=nil", "was destroyed")
  #expect(program.complaints == [])
}

@Test("A screen that is shown is not shown for a second item, which fails, and its window stays")
func gtk_screen_ofTwoItems_isShownOnce() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  program.send("twin")
  try program.wait(windows: "Main", "Twin")
  program.send("otherTwin")
  try program.wait(for: "twins=true false", "shown already")
  try program.keyboard.press("Escape")
  try program.wait(for: "twins=false false")
  try program.wait(windows: "Main")
  // The screen may be shown again after that.
  program.send("otherTwin")
  try program.wait(windows: "Main", "Twin")
  try program.keyboard.press("Escape")
  try program.wait(windows: "Main")
  #expect(program.complaints == [])
}

@Test("A window that the program destroys while it makes the content is closed")
func gtk_window_destroyedWhileItsContentIsMade_isNil() throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: true)
  try program.wait(windows: "Main")
  try program.send("sheet -1", untilState: "sheet=nil")
  program.send("sheet 2")
  try program.wait(windows: "Main", "Sheet 2")
  program.send("sheet")
  try program.wait(windows: "Main")
  try expectNothingIsLeft(of: program)
}

@Test("What a window shows ends with it when the program itself destroys the window", arguments: [false, true])
func gtk_mainWindow_destroyedByTheProgram_endsAll(isPlain: Bool) throws {
  let program = try GTKProgram("gtk-screens", ["--embedded"], isPlain: isPlain)
  try program.wait(windows: "Main")
  program.send("hint true")
  try program.wait(untilShown: "a-hint")
  program.send("path 1 2")
  try program.wait(untilShown: "page-2")
  program.send("panel help")
  try program.wait(untilShown: "help")
  program.send("destroy Main")
  try program.wait(untilEnd: "end windows=0 alive=0 screens=0 ")
}

@Test("A window with unsaved text that stays when navd has lost its record keeps the program and its main window")
func gtk_unsavedText_recordLost_keepsTheProgram() throws {
  let program = try GTKProgram("gtk-screens", isPlain: true)
  try program.wait(windows: "Main")
  try writeNote(in: program)
  try program.session.stop(SIGKILL)
  let removing = try program.session.run(program: "/bin/rm", ["-rf", program.session.bus.directory + "/navd"])
  #expect(removing.status == .exited(code: 0))
  try program.session.start()
  try program.wait(untilShown: "Discard")
  try program.keyboard.press("Escape")
  try program.wait(for: "note=nil", "kept=1")
  try program.wait(windows: "Main", "Note 1")
  // It asks again when its user closes the main window, and the program ends after it.
  try program.keyboard.press("Escape")
  try program.click(on: "Discard")
  try program.wait(windows: "Main")
  program.send("destroy Main")
  try program.wait(untilEnd: "end windows=0 alive=0 screens=0 ")
}

@Test("A window with unsaved text asks its user without navd, too")
func gtk_unsavedText_asksWithoutNavd() throws {
  let program = try GTKProgram("gtk-screens", isPlain: true)
  try program.wait(windows: "Main")
  try writeNote(in: program)
  try program.session.stop(SIGKILL)
  try program.keyboard.press("Escape")
  try program.wait(untilShown: "Discard")
  try program.keyboard.press("Escape")
  try program.wait(for: "note=1", "kept=1")
  try program.wait(windows: "Main", "Note 1")
  try program.keyboard.press("Escape")
  try program.click(on: "Discard")
  try program.wait(windows: "Main")
  try program.session.start()
  try program.wait(for: "note=nil")
  try expectNothingIsLeft(of: program)
}
