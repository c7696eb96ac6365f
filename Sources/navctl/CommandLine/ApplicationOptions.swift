import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import SessionFiles
import TextFormats

/// An installed application as the program that shows an item, by its desktop file.
struct ApplicationOptions: ParsableArguments {
  static let option = "desktop"

  @Option(
    name: .customLong(Self.option),
    help: ArgumentHelp(
      "Application that shows it, instead of a destination, e.g. org.gnome.Calculator.", valueName: "id"),
    completion: .applications)
  var id: String?

  @Option(
    name: .customLong("desktop-action"),
    help: ArgumentHelp("Start this action of the application, e.g. new-window.", valueName: "name"))
  var action: String?

  func validate() throws {
    if action != nil, id == nil { throw ValidationError("--desktop-action needs --desktop") }
  }

  /// The default id of the item, so that another application replaces it.
  var itemID: String? { id.map { id in action.map { "\(id):\($0)" } ?? id } }

  /// Writes the command, the title and the directory of the application.
  func write(to options: inout Properties, _ daemon: DaemonClient) throws(Failure) {
    guard let id else { return }
    guard !daemon.isRemote else {
      throw Failure(
        daemon.operation, "--desktop is about the applications of this machine, and --host about another one",
        status: .usage)
    }
    let application: Application
    do throws(Application.Mistake) { application = try Application(id, action: action) } catch {
      throw Failure(daemon.operation, error.why, status: .unknownName)
    }
    options[Options.command.name] = application.arguments.value
    options[Options.title] = options[Options.title] ?? application.title
    if let directory = application.directory { options[Options.directory] = directory }
  }

  /// A hint to use `--desktop` if a name has no destination but an application; nil if it has neither.
  static func hint(_ name: String) -> ((_ operation: String) -> String)? {
    guard (try? Application(name)) != nil else { return nil }
    return { "to show the application of that name: navctl \($0) --\(option) \(name)" }
  }
}
