// Why this file exists: navd.destination(5), of the tables by which the files are read.

import CoordinatorAPI
import CoordinatorDaemon
import TextFormats

struct DestinationPage {
  /// Where files are, and what they are.
  static let files = [
    ("~/.config/navd/destinations/NAME.toml", "The destination `NAME`."),
    ("~/.config/navd/navd.toml", "What holds for all of them."),
    (
      "/etc/xdg/navd/, /usr/local/share/navd/, /usr/share/navd/",
      "The same, for all users: of several files of one name the first found counts, in the order of `$XDG_CONFIG_HOME`, "
        + "`$XDG_CONFIG_DIRS` and `$XDG_DATA_DIRS`."
    ),
  ]

  private(set) var text = ""

  init() {
    var page = ManualPage(
      "navd.destination", section: 5, release: Release.version, manual: "File Formats",
      summary: "how navd shows the items of a destination")
    page.heading("Synopsis")
    page.synopsis(Self.files.prefix(2).map { ManualPage.italic($0.0) })
    page.heading("Description")
    page.paragraph(
      """
      A destination says how items are shown. It is a file in TOML that is named after it, and is read by `navd`(8) when that \
      starts, and again by `navctl reload`. A file with a mistake keeps what was loaded from it before; file, line and \
      mistake are told by `navctl check-config`.
      """)
    page.heading("Keys of a destination")
    page.paragraph(
      """
      None has to be there, and at most one of `command`, `unit` and `bus` may be. With none of these, items are nothing but \
      state, for watchers to draw. Durations are a number with `ms`, `s`, `m` or `h`.
      """)
    for key in DestinationKey.allCases {
      page.item(ManualPage.bold(key.rawValue), ManualPage.sentence(key.doc))
      page.indented { $0.code("\(key.rawValue) = \(key.example)") }
    }
    page.heading("Placeholders")
    page.paragraph("In the arguments of a command, and in the name of a unit, there stand for something of the item:")
    page.item(ManualPage.bold("{id}"), "its id;")
    page.item(ManualPage.bold("{binding}"), "the name of its slot;")
    page.item(
      ManualPage.bold("{value.KEY}"),
      "what its value has for a key: text as it stands, all else as JSON, nothing where it has none.")
    page.paragraph(
      """
      `{{` and `}}` stand for braces. What stands for a placeholder stays within its argument. The program itself has none, \
      nor may a shell's script have one; a script finds the item in `NAVD_BINDING`, `NAVD_ID`, `NAVD_PRESENTATION`, and on \
      its standard input as a line of JSON.
      """)
    page.heading("Keys of navd.toml")
    for key in SettingsKey.allCases {
      page.item(ManualPage.bold(key.rawValue), ManualPage.sentence(key.doc))
      page.indented { $0.code("\(key.rawValue) = \(key.example)") }
    }
    page.heading("Files")
    for (file, doc) in Self.files { page.item(ManualPage.italic(file), doc) }
    page.heading("Examples")
    page.paragraph(
      "A mixer, in a group of panels of which one is open at a time; `navctl toggle mixer` opens and closes it.")
    page.code(
      """
      # ~/.config/navd/destinations/mixer.toml
      command = ["foot", "--app-id=mixer", "-e", "pulsemixer"]
      group = "panels"
      """)
    page.heading("See also")
    page.paragraph("`navctl`(1), `navd`(8), `org.navd.Presenter1`(5)")
    text = page.text
  }
}
