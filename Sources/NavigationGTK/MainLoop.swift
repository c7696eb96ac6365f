#if canImport(CGTK)
  import CGTK
  // This import links libdispatch.
  import Dispatch
  import Glibc
  public import Navigation

  /// The main loop of GLib, which runs GTK and the main actor.
  ///
  ///     MainLoop.run { navigator in
  ///       navigator.present(isPresented: $model.isOpen) { mainWindow(model) }
  ///     }
  public enum MainLoop {
    /// The failure of GTK to start without a display.
    ///
    ///     do { try MainLoop.run { await navigator.waitUntilAllGone() } } catch let error as MainLoop.NoDisplay { print(error) }
    public struct NoDisplay: Error, CustomStringConvertible {
      public let description = "GTK finds no display: expected WAYLAND_DISPLAY or DISPLAY of a session"
    }

    /// Makes GLib's main loop run the main actor. From now on, any function that runs the loop (`g_application_run`,
    /// `g_main_loop_run`) also runs tasks of the main actor. There is no polling; the loop sleeps until there is work. Use this in a
    /// program with a `main()` that is not async: in an async one, the main actor has left the main thread.
    ///
    ///     MainLoop.connect()
    ///     g_main_loop_run(g_main_loop_new(nil, 0))
    @MainActor public static func connect() { _ = connection }

    /// The GLib source, which exists as long as the program.
    @MainActor private static let connection = g_unix_fd_add(
      _dispatch_get_main_queue_handle_4CF(), G_IO_IN,
      { descriptor, _, _ in
        // The count only shows that there is work.
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        _dispatch_main_queue_callback_4CF(nil)
        return gboolean(G_SOURCE_CONTINUE)
      }, nil)

    /// Runs a program: starts GTK, and runs the main loop until the last screen that the program presents is really gone. A screen that
    /// asks its user keeps the program. An error is a line on standard error, and ends the program with the status 1.
    ///
    ///     @main @MainActor struct Facts {
    ///       static func main() {
    ///         let model = Model()
    ///         MainLoop.run { navigator in
    ///           navigator.present(isPresented: Bindable(model, .shared("facts")).isOpen) { mainWindow(model) }
    ///         }
    ///       }
    ///     }
    ///
    /// - Parameters:
    ///   - coordinator: makes the coordinator, by default that of the session.
    ///   - adwaita: whether libadwaita is used where it is installed. It changes the look of all widgets.
    ///   - present: presents the program's state.
    @MainActor public static func run(
      on coordinator: @escaping @MainActor () async throws -> Coordinator = { try await .session() },
      adwaita: Bool = true, _ present: @escaping @MainActor (Navigator) async throws -> Void
    ) {
      do {
        try run(adwaita: adwaita) {
          let navigator = Navigator(try await coordinator())
          try await present(navigator)
          await navigator.waitUntilAllGone()
        }
      } catch {
        log("\(g_get_prgname().map { String(cString: $0) } ?? "MainLoop"): \(error)")
        exit(1)
      }
    }

    /// Starts GTK, and runs the main loop until the body has returned.
    ///
    ///     try MainLoop.run(adwaita: false) {
    ///       navigator.present(isPresented: $model.isOpen) { mainWindow(model) }
    ///       await navigator.waitUntilAllGone()
    ///     }
    ///
    /// - Parameters:
    ///   - adwaita: whether libadwaita is used where it is installed. It changes the look of all widgets.
    ///   - body: the program.
    /// - Throws: ``NoDisplay``, or the error of the body.
    @MainActor public static func run(
      adwaita: Bool = true, _ body: @escaping @MainActor () async throws -> Void
    ) throws {
      // Compositors identify the program's windows by this name.
      if g_get_prgname() == nil, let path = CommandLine.arguments.first {
        g_set_prgname(String(path.split(separator: "/").last ?? ""))
      }
      guard gtk_init_check() != 0 else { throw NoDisplay() }
      if adwaita { Adwaita.start() }
      connect()
      let loop = g_main_loop_new(nil, gboolean(0))
      defer { g_main_loop_unref(loop) }
      var end: Result<Void, any Error> = .success(())
      Task {
        do { try await body() } catch { end = .failure(error) }
        g_main_loop_quit(loop)
      }
      g_main_loop_run(loop)
      try end.get()
    }
  }
#endif
