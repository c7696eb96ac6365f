// Why this file exists: an item that names no destination is state alone where none is called like its binding. That is what
// bars and shells draw; somebody who mistyped a name, or has just written the file, sees nothing and wonders.

import CoordinatorAPI
import DBusValues
import Glibc
import TextFormats

extension Daemon {
  /// Says, to whom sits at a terminal, that no program shows what was presented, and why.
  func noteStateOnly(at binding: String) {
    guard isatty(STDERR_FILENO) == 1, let item = try? ask(CoordinatorInterface.get, binding).1,
      item["phase"] == .string("presented"), ["destination", "pid", "unit"].allSatisfy({ item[$0] == nil }),
      let destinations = try? ask(CoordinatorInterface.destinations, ())
    else { return }
    let hint = nearest(to: binding, among: destinations.map(\.fields.0)).map { "did you mean “\($0)”? " } ?? ""
    StandardError.write(
      "navctl: \(what): presented as state alone, for others to draw: there is no destination “\(binding)”; "
        + "\(hint)“navctl destinations” lists them, and “navctl reload” finds new files")
  }
}
