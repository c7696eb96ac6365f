// An example of a presenter: a program that shows items itself, with this package's D-Bus library. This one prints a line
// where yours draws a window. A package of your own needs this package's product “DBus”, with `traits: []`.
//
//     $ .build/debug/presenter board                           # shows the items for the destination “board”
//     $ navctl present note 1 --to board --value text=Hello    # in another terminal
//     $ navctl update note text=Bye
//     $ navctl dismiss note
//
// Enter closes the item shown last, as its user would.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// Prints a line without buffering.
private func say(_ line: String) {
  print(line)
  fflush(nil)
}

/// The items on screen.
final class Board {
  private let connection: Connection
  /// In the order in which they were presented.
  private var shown: [(handle: ObjectPath, name: String)] = []
  private var coordinator: NameWatch?

  /// Registers as the presenter of a destination.
  init(_ connection: Connection, destination: String) {
    self.connection = connection
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [unowned self] input, call in
      let (handle, binding, id, item) = input
      shown.removeAll { $0.handle == handle }
      shown.append((handle, "\(binding) \(id)"))
      // After a restart, navd presents again the items that are already on screen.
      show(item["restored"] == .boolean(true) ? "=" : "+", handle, item)
      // The reply reports that the item is on screen.
      call.reply()
    }
    object.implement(PresenterInterface.update) { [unowned self] input, call in
      show("~", input.0, input.1)
      call.reply()
    }
    object.implement(PresenterInterface.dismiss) { [unowned self] input, call in
      say("- \(name(input.0)) \(input.1)")
      shown.removeAll { $0.handle == input.0 }
      // The reply reports that the item is gone; its result is for the callers that wait for the end.
      call.reply(["answer": .string("bye")])
    }
    connection.export("/presenter", [object])
    // Registers with each navd, also with one that is started later.
    coordinator = connection.watchName(CoordinatorNames.bus) { owner in
      guard owner != nil else { return }
      connection.call(
        CoordinatorInterface.registerPresenter, on: CoordinatorNames.bus, at: CoordinatorNames.object,
        (destination, "/presenter", [:])
      ) { if case .failure(let error) = $0 { say("! \(error)") } }
    }
  }

  /// Closes the item shown last, as its user would.
  func closeLast() {
    guard let (handle, name) = shown.popLast() else { return }
    say("x \(name)")
    connection.call(
      CoordinatorInterface.closed, on: CoordinatorNames.bus, at: CoordinatorNames.object, (handle, [:])
    ) { _ in }
  }

  private func name(_ handle: ObjectPath) -> String { shown.first { $0.handle == handle }?.name ?? "?" }

  private func show(_ sign: String, _ handle: ObjectPath, _ item: Properties) {
    let value = item["value"].flatMap { Properties(value: $0) } ?? [:]
    say("\(sign) \(name(handle)) \(JSON(value).text)")
  }
}

@main
enum Presenter {
  static func main() throws {
    let loop = try EventLoop()
    let connection = try Connection.session(loop: loop)
    // The session has ended.
    connection.handlers.onDisconnected = { loop.stop() }
    let board = Board(connection, destination: CommandLine.arguments.dropFirst().first ?? "board")
    try loop.watch(STDIN_FILENO, .read) { _ in
      var keys = [UInt8](repeating: 0, count: 100)
      let count = read(STDIN_FILENO, &keys, keys.count)
      if count == 0 { loop.stop() }
      for key in keys.prefix(max(0, count)) where key == UInt8(ascii: "\n") { board.closeLast() }
    }
    loop.run()
  }
}
