#if canImport(CGTK)
  import CGTK
  import Glibc

  /// libadwaita, and what GTK has since 4.10. They are looked up in the running program: the same program runs with GTK 4.8, as in
  /// Debian 12, and without libadwaita.
  @MainActor
  enum Adwaita {
    /// Loads libadwaita, if it is installed, and lets it set how widgets look.
    static func start() {
      guard dlopen("libadwaita-1.so.0", RTLD_NOW | RTLD_GLOBAL) != nil else { return }
      (symbol("adw_init") as (@convention(c) () -> Void)?)?()
    }

    /// Whether the program uses libadwaita. A library that is only loaded changes nothing.
    static var isUsed: Bool {
      (symbol("adw_is_initialized") as (@convention(c) () -> gboolean)?)?() == 1
    }

    /// A function of the running program, or nil.
    static func symbol<Function>(_ name: String) -> Function? {
      // The program itself and all libraries that it has loaded.
      dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }
  }
#endif
