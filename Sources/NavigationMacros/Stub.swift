#if !Macros
  /// Replaces the macros in builds without the trait.
  @main
  struct NoMacros {
    static func main() {}
  }
#endif
