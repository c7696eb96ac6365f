import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import TextFormats

extension ObjectPath {
  /// Parses a presentation as people write it: its number, or its object path.
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    if let number = UInt64(argument) {
      self = CoordinatorNames.presentation(number)
    } else if let path = ObjectPath(argument) {
      self = path
    } else {
      throw ValidationError(
        "expected the number of a presentation, found “\(argument)”; “navctl list” shows the numbers")
    }
  }

  /// The number of a presentation, as people write it.
  var presentationNumber: String { CoordinatorNames.number(of: self).map(String.init) ?? text }
}

extension BusyPolicy: ExpressibleByArgument {}
extension WaitPhase: ExpressibleByArgument {}
extension Reason: ExpressibleByArgument {}

extension String {
  /// - Throws: `ValidationError`.
  func number<Number: FixedWidthInteger>(upTo maximum: Number = .max) throws -> Number {
    guard let number = Number(self), number <= maximum else {
      throw ValidationError("expected a number from \(Number.min) to \(maximum), found “\(self)”")
    }
    return number
  }

  /// The duration in milliseconds; a number without a unit means seconds.
  /// - Throws: `ValidationError`.
  func duration() throws -> UInt64 {
    do throws(DurationText.Mistake) {
      return try DurationText.milliseconds(self, bare: 1000)
    } catch {
      let expected = error.expected("a duration such as 500ms, 3s or 1m30s")
      throw ValidationError("expected \(expected), found “\(self)”")
    }
  }
}

/// The command line as bytes. A file name may have any bytes, but Swift's strings replace bytes that are not UTF-8.
enum RawArguments {
  /// The last `count` arguments.
  static func last(_ count: Int) -> [[UInt8]] {
    let all = Int(CommandLine.argc)
    return (max(0, all - count)..<all).compactMap { index in
      CommandLine.unsafeArgv[index].map { argument in
        Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
      }
    }
  }
}

extension ArgumentHelp {
  static let binding: ArgumentHelp = "Name of the panel or dialog, e.g. mixer."
  static let group: ArgumentHelp = "Name of the group, e.g. panels."
  static let tag: ArgumentHelp = "Tag of the member, as “navctl list” shows it."
  static let stack: ArgumentHelp = "Name of the stack, e.g. settings."
  static let presentation: ArgumentHelp = "Its number, as “navctl list” shows it."
}
