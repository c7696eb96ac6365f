import Glibc

/// The variables of the process.
enum Environment {
  /// Nil if it is not set, or empty.
  static subscript(name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
