import CoordinatorAPI
import CoordinatorDaemon
import TextFormats

/// The page navd.destination(5), made from the tables with which navd reads the files.
struct DestinationPage {
  /// The paths of configuration files, and their content.
  static let files = [
    ("~/.config/navd/destinations/NAME.toml", "The destination `NAME`."),
    ("~/.config/navd/navd.toml", "Settings of navd, for all destinations."),
    (
      "/etc/xdg/navd/, /usr/local/share/navd/, /usr/share/navd/",
      "The same files for all users. Of several files with one name navd reads the first, in the order of "
        + "`$XDG_CONFIG_HOME`, `$XDG_CONFIG_DIRS` and `$XDG_DATA_DIRS`."
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
      A destination says how items are shown. It is a TOML file with the name of the destination. `navd`(8) reads it when \
      it starts, when it is written, and for `navctl reload`. For a file with a mistake, the version loaded before stays \
      in effect; `navctl check-config` reports file, line and mistake.
      """)
    page.heading("Keys of a destination")
    page.paragraph(
      """
      All keys are optional; at most one of `command`, `unit`, `bus` and `state = true` is allowed. Without all of them, \
      items are state only, for watchers to draw. A duration is numbers with `ms`, `s`, `m` or `h`, such as `1m30s`.
      """)
    for key in DestinationKey.allCases {
      page.item(ManualPage.bold(key.rawValue), ManualPage.sentence(key.doc))
      page.indented { $0.code("\(key.rawValue) = \(key.example)") }
    }
    page.heading("Placeholders")
    page.paragraph("navd replaces these in the arguments of a command and in the name of a unit:")
    page.item(ManualPage.bold("{id}"), "the item's id;")
    page.item(ManualPage.bold("{binding}"), "its binding;")
    page.item(ManualPage.bold("{title}"), "its title;")
    page.item(ManualPage.bold("{output}"), "the output that its request names; also in the name of a group;")
    page.item(
      ManualPage.bold("{value.KEY}"),
      "the entry of its value with this key: text unchanged, other types as JSON, nothing if it has no such entry.")
    page.paragraph(
      """
      Write `{{` and `}}` for braces. The replacement stays within its argument. The program's name and the script of a \
      shell may have no placeholder; a script reads the item from `NAVD_BINDING`, `NAVD_ID` and `NAVD_PRESENTATION`, and \
      from its standard input as a line of JSON.
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
      "A mixer in a group of panels, one of them open at a time; `navctl toggle mixer` opens and closes it.")
    page.code(
      """
      # ~/.config/navd/destinations/mixer.toml
      command = ["foot", "--app-id=mixer", "-e", "pulsemixer"]
      group = "panels"
      """)
    page.heading("See also")
    page.paragraph("`navctl`(1), `navd`(8)")
    text = page.text
  }
}
