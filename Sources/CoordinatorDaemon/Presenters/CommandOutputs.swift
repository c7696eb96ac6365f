import EventLoops
import PresentationModel
import Processes

/// The files with the standard output of commands. Those of a command whose result is on record are removed.
final class CommandOutputs {
  private let loop: EventLoop
  private let runtime: RuntimeDirectory
  /// The part of a command's marker that is unique to the record; the handle is the other part.
  private let token: String
  private let limit: Int
  /// The output of commands whose results are not on record yet.
  private var kept: [Handle: OutputCapture] = [:]
  /// The output of commands that outlive their items, by their markers (N3).
  private var drains: [ByteString: OutputDrain] = [:]

  /// - Parameters:
  ///   - token: identifies the record among all records.
  ///   - limit: the number of bytes of standard output that become part of a result (D6).
  init(_ loop: EventLoop, _ runtime: RuntimeDirectory, token: String, limit: Int) {
    self.loop = loop
    self.runtime = runtime
    self.token = token
    self.limit = limit
  }

  func marker(of handle: Handle) -> ByteString { ByteString("\(token)-\(handle)") }

  subscript(handle: Handle) -> OutputCapture {
    OutputCapture(path: runtime.path(marker(of: handle)), limit: limit)
  }

  /// Keeps the output of a command until it is removed.
  func keep(_ handle: Handle) -> OutputCapture {
    let output = self[handle]
    kept[handle] = output
    return output
  }

  func remove(_ handle: Handle) { kept.removeValue(forKey: handle)?.remove() }

  /// Removes the output of commands whose ends are on record, and reads the output of those that still run.
  func removeLeftovers() {
    let kept = Set(kept.keys.map { marker(of: $0) })
    // The file of errors is followed until no process writes into it any more.
    let left = runtime.names(beginningWith: token + "-").compactMap { name -> ByteString? in
      guard let dot = name.lastIndex(of: "."), name[dot...] != ErrorFiles.suffix.description[...] else { return nil }
      return ByteString(String(name[..<dot]))
    }
    for marker in Set(left).subtracting(kept) {
      drains[marker] = OutputDrain(of: OutputCapture(path: runtime.path(marker), limit: 0), loop: loop) { [weak self] in
        self?.drains[marker] = nil
      }
    }
  }
}
