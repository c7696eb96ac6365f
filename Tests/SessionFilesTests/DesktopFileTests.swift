import Testing

@testable import SessionFiles

// The content of desktop files: groups, keys, translations and escapes.

private let text = """
  # A comment, and a key before any group
  Name=Nobody
  [Desktop Entry]
  Type=Application
  Name = Files
  Name[de]=Dateien
  Name[de_AT]=Mappen
  Name[sr@latin]=Datoteke
  Name[fr]=Fichiers
  Comment=a\\sb\\nc\\\\d\\q
  Actions=new-window;preferences;
  Hidden=false
  Terminal=true
  Name=Later
  [Desktop Action new-window]
  Name=New window
  """

private func file(_ languages: [String] = []) -> DesktopFile { DesktopFile(Array(text.utf8), languages: languages) }

@Test func desktopFile_values_areThoseOfTheirGroups() {
  let file = file()
  #expect(file["Name"] == "Files")
  #expect(file["Name", in: "Desktop Action new-window"] == "New window")
  #expect(file["Name", in: "Desktop Action other"] == nil && file["Icon"] == nil)
  #expect(file["Comment"] == "a b\nc\\d\\q")
  #expect(file.list("Actions") == ["new-window", "preferences"])
  #expect(file.isTrue("Terminal") && !file.isTrue("Hidden") && !file.isTrue("NoDisplay"))
  #expect(file.has("Desktop Entry") && !file.has("Desktop Action other"))
}

@Test(
  "The most specific translation counts: language, country and modifier come first",
  arguments: [
    (["LANG": "de_AT.UTF-8"], "Mappen"), (["LANG": "de_DE.UTF-8"], "Dateien"), (["LANG": "sr_YU@latin"], "Datoteke"),
    (["LANG": "C"], "Files"), ([:], "Files"), (["LANG": "de", "LC_MESSAGES": "fr_FR"], "Fichiers"),
    (["LANG": "de", "LC_MESSAGES": "", "LC_ALL": ""], "Dateien"), (["LC_ALL": "it_IT", "LANG": "de"], "Files"),
  ])
func desktopFile_translation_isThatOfTheSession(environment: [String: String], name: String) {
  #expect(file(DesktopFile.languages { environment[$0] })["Name"] == name)
}

@Test func desktopFile_anything_isReadWithoutAFailure() {
  for content in ["", "[", "[]", "=", "[a]\n=\n", "[Desktop Entry]\nName", "[Desktop Entry]\n[de]=x", "\u{0}\r\n"] {
    #expect(DesktopFile(Array(content.utf8))["Name"] == nil)
  }
}
