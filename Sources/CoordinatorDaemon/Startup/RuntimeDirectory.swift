import DBus
import EventLoops
import Glibc
import PresentationRecord
import Processes
import SessionFiles

/// The directory of navd's record and of the output of commands. Only its user can write there.
struct RuntimeDirectory {
  private let path: ByteString
  /// The time for which its content counts.
  enum Lifetime {
    /// The content counts without end, on any bus, because the user named the directory.
    case unlimited
    /// The content counts as long as the bus of the session lasts.
    case session
    /// The content counts as long as this navd runs, because no later one can find the directory.
    case process
  }
  let lifetime: Lifetime
  /// Whether the directory is named after a bus, so that no navd of another bus can find it.
  private let isOfBus: Bool

  /// - Parameters:
  ///   - path: the directory; nil for one in `$XDG_RUNTIME_DIR`: `navd` if the bus is there, too, otherwise `navd-ID`, so that a session
  ///     within the session has its own. Without that variable, nil stands for a new directory in `/tmp`.
  ///   - bus: the address and the id of the bus.
  /// - Throws: `SystemError` if the directory cannot be created, or other users can write there.
  init(_ path: String? = nil, bus: (address: String, id: String)) throws(SystemError) {
    let variable = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
    // The XDG Base Directory Specification demands that a relative path is ignored.
    let session = variable.hasPrefix("/") ? variable : ""
    if let path {
      self.path = ByteString(path)
      (lifetime, isOfBus) = (.unlimited, false)
    } else if !session.isEmpty {
      isOfBus = !BusAddress.isOfSession(bus.address)
      self.path = ByteString(session + (isOfBus ? "/navd-\(bus.id)" : "/navd"))
      lifetime = .session
    } else {
      self.path = ByteString("/tmp/navd-\(String(UInt64.random(in: .min ... .max), radix: 36))")
      (lifetime, isOfBus) = (.process, false)
    }
    let name = self.path.description
    if mkdir(name, 0o700) != 0, errno != EEXIST {
      let error = SystemError("mkdir \(name)")
      guard error.isPassing else { throw error }
      // The record creates the directory when there is room.
      return
    }
    var status = stat()
    try check("stat \(name)") { lstat(name, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(), status.st_mode & 0o022 == 0 else {
      throw SystemError(
        code: EPERM, operation: "expected \(name) to be a directory of this user, in which nobody else can write")
    }
  }

  var name: String { path.description }

  /// The directory of the items kept for the next login; nil if none are kept, because no later
  /// navd could find them, or another session owns the directory (K4).
  var loginDirectory: String? {
    switch lifetime {
    case .unlimited: return name + "/login"
    case .process: return nil
    case .session: return isOfBus ? nil : BaseDirectories.state().map { String(decoding: $0, as: UTF8.self) + "/navd" }
    }
  }

  /// The path of a file in the directory.
  func path(_ name: ByteString) -> ByteString { ByteString(path.bytes + [UInt8(ascii: "/")] + name.bytes) }

  /// The names of the files with a given beginning.
  func names(beginningWith beginning: String) -> [String] {
    ((try? directoryEntries(path.bytes)) ?? []).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.hasPrefix(beginning) }
  }

  /// Removes the directory if no later navd can find it, unless it contains files other than the record.
  /// - Parameter hasBusEnded: whether the bus has ended.
  func remove(hasBusEnded: Bool) {
    guard lifetime == .process || isOfBus && hasBusEnded else { return }
    for file in Record.files { unlink(path(ByteString(file)).description) }
    rmdir(path.description)
  }
}
