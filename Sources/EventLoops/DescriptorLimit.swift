public import Glibc

/// This process's limit of open descriptors.
public struct DescriptorLimit: Sendable {
  /// Descriptors of the hard limit that a process may keep for messages: one message has up to 253, and some more may wait.
  private static let reserve: rlim_t = 512
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  public private(set) var limits = rlimit()

  private init() {}

  public static func current() throws(SystemError) -> DescriptorLimit {
    var limit = DescriptorLimit()
    try check("getrlimit") { getrlimit(resource, &limit.limits) }
    return limit
  }

  /// The hard limit without the reserve, at least three quarters of it.
  public var withReserve: DescriptorLimit {
    var limit = self
    limit.limits.rlim_cur = limits.rlim_max - min(Self.reserve, limits.rlim_max / 4)
    return limit
  }

  /// The hard limit as a whole.
  public var withoutReserve: DescriptorLimit {
    var limit = self
    limit.limits.rlim_cur = limits.rlim_max
    return limit
  }

  /// Sets the limit. Descriptors above it stay open.
  public func set() throws(SystemError) {
    var limits = limits
    try check("setrlimit") { setrlimit(Self.resource, &limits) }
  }
}
