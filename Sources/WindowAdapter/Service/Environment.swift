import Glibc

/// The variables of the process.
package enum Environment {
  /// The value of a variable; nil if it is not set, or empty.
  package static subscript(name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
