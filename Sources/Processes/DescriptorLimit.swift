import CLinux
import EventLoops
import Glibc

/// This process's limit of open descriptors (`RLIMIT_NOFILE`).
package struct DescriptorLimit {
  /// The number of the highest descriptors, which no command takes: one message from the bus has up to 253, and some more
  /// messages may wait. libdbus-1 ends the connection if there are no numbers for them.
  private static let reserve: rlim_t = 512
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  private(set) var limits = rlimit()
  /// The limit needs one reading, because nothing here changes it.
  private static let hardLimit = (try? current())?.limits.rlim_max ?? .max

  package static func current() throws(SystemError) -> DescriptorLimit {
    var limit = DescriptorLimit()
    try check("getrlimit") { getrlimit(resource, &limit.limits) }
    return limit
  }

  /// Raises this process's limit to the hard limit.
  package func raise() throws(SystemError) {
    var limits = limits
    limits.rlim_cur = limits.rlim_max
    try check("setrlimit") { setrlimit(Self.resource, &limits) }
  }

  /// Refuses a descriptor of the reserve, which is a quarter of a small hard limit. A new descriptor has the lowest free number,
  /// so its number tells how many are in use.
  /// - Throws: `SystemError` with `EMFILE`.
  static func checkReserve(_ descriptor: Int32, _ operation: @autoclosure () -> String) throws(SystemError) {
    let most = hardLimit
    guard rlim_t(descriptor) < most - min(reserve, most / 4) else {
      throw SystemError(code: EMFILE, operation: operation())
    }
  }

  /// Refuses to open another descriptor if it would belong to the reserve.
  /// - Parameter open: any open descriptor.
  static func checkNext(after open: Int32, _ operation: @autoclosure () -> String) throws(SystemError) {
    let next = try check(operation()) { fcntl(open, F_DUPFD_CLOEXEC, 0) }
    close(next)
    try checkReserve(next, operation())
  }
}
