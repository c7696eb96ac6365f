#if canImport(CGTK)
  import CGTK
  import Glibc

  /// Functions of libadwaita, and of GTK since 4.10. They are looked up in the running program, so that the same program also runs
  /// with GTK 4.8, as in Debian 12, and without libadwaita.
  @MainActor
  enum Adwaita {
    /// Loads libadwaita, if it is installed, so that it controls the look of widgets.
    static func start() {
      guard dlopen("libadwaita-1.so.0", RTLD_NOW | RTLD_GLOBAL) != nil else { return }
      (symbol("adw_init") as (@convention(c) () -> Void)?)?()
    }

    /// Whether the program uses libadwaita. Loading the library alone changes nothing.
    static var isUsed: Bool {
      (symbol("adw_is_initialized") as (@convention(c) () -> gboolean)?)?() == 1
    }

    /// A function of the running program; nil if the program does not have it.
    static func symbol<Function>(_ name: String) -> Function? {
      // The search includes the program itself and all libraries that it has loaded.
      dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }
  }
#endif
