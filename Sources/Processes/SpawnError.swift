// Why this file exists: who asked for a program that cannot be run is told which one, and why, in words.

import EventLoops

/// Why a command was not started.
public enum SpawnError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was asked for cannot be said to the kernel at all.
  case malformed(String)
  /// There is no such program, in none of the directories of `searchPath` if it was looked up.
  case programNotFound(ByteString, searchPath: ByteString?)
  case notExecutable(ByteString, reason: String)
  case badDirectory(ByteString, reason: String)
  /// The system is out of something, or misses it.
  case failed(SystemError)

  public var description: String {
    switch self {
    case .malformed(let what): what
    case .programNotFound(let program, nil): "\(program): there is no such program"
    case .programNotFound(let program, let path?): "\(program): not found in PATH (\(path))"
    case .notExecutable(let program, let reason): "\(program): cannot be executed: \(reason)"
    case .badDirectory(let directory, let reason): "working directory \(directory): \(reason)"
    case .failed(let error): error.description
    }
  }
}
