// Why this file exists: every verb that changes something reports in the same way.

import CoordinatorAPI
import DBusValues
import TextFormats

extension GlobalOptions {
  /// What a verb has to say: one line of JSON, or text for people; nothing with `--quiet`.
  func write(json: @autoclosure () -> JSON, plain: @autoclosure () -> String) {
    if quiet { return }
    StandardOutput.write(self.json ? json().text + "\n" : plain())
  }

  /// A table, or the same as one line of JSON.
  func write(json: @autoclosure () -> JSON, _ table: Table) {
    write(json: json(), plain: table.text(style))
  }

  /// How tables are written.
  var style: Table.Style { StandardOutput.style(legend: !noLegend) }

  /// That something was changed, or was so already: nothing for people, unless they want the handle.
  func report(
    changed: Bool, presentation: ObjectPath? = nil, serial: UInt64, _ more: [String: JSON] = [:],
    verbose line: String = ""
  ) {
    var members = more
    members["changed"] = .boolean(changed)
    members["serial"] = JSON(serial)
    let number = presentation.flatMap { CoordinatorNames.number(of: $0) }
    members["presentation"] = number.map { JSON($0) }
    guard json || verbose else { return }
    write(json: .object(members), plain: number.map { "\($0)\n" } ?? line)
  }
}
