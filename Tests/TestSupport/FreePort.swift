import Glibc

/// Returns a loopback port that no process listens on; nil if there is none.
public func freePort() -> UInt16? {
  let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard socket >= 0 else { return nil }
  defer { close(socket) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let found = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
    }
  }
  return found ? UInt16(bigEndian: address.sin_port) : nil
}
