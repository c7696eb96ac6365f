import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

extension GlobalOptions {
  /// Writes the result of a verb: one line of JSON, or text for people; nothing with `--quiet`.
  func write(json: @autoclosure () -> JSON, plain: @autoclosure () -> String) {
    write(json: json(), plain(), isStyled: false)
  }

  /// Writes the result of a verb as text that is already escaped and may have colours.
  func write(json: @autoclosure () -> JSON, styled: @autoclosure () -> String) {
    write(json: json(), styled(), isStyled: true)
  }

  private func write(json: @autoclosure () -> JSON, _ text: @autoclosure () -> String, isStyled: Bool) {
    if quiet { return }
    if self.json { StandardOutput.write(json()) } else { StandardOutput.write(text(), isStyled: isStyled) }
  }

  /// Writes a table, or the same content as one line of JSON.
  /// - Parameter empty: the line that people get if there are no rows.
  func write(json: @autoclosure () -> JSON, _ table: Table, whenEmpty empty: String = "") {
    write(
      json: json(), styled: table.rows.isEmpty && !empty.isEmpty ? tableStyle.legend(empty) : table.text(tableStyle))
  }

  var tableStyle: Table.Style { StandardOutput.tableStyle(legend: !noLegend) }

  /// Writes the result of a verb that changes the state: nothing for people, unless `--verbose` asks for the number.
  /// - Parameters:
  ///   - changed: false if the state was already as requested.
  ///   - more: more members of the JSON.
  ///   - line: the text for `--verbose` if there is no presentation.
  func report(
    changed: Bool, presentation: ObjectPath? = nil, serial: UInt64, _ more: Properties = [:],
    verbose line: String = ""
  ) {
    var members = more
    members["changed"] = .boolean(changed)
    members[StateSnapshot.keys.serial] = serial
    let number = presentation.flatMap { CoordinatorNames.number(of: $0) }
    members[StateEntry.keys.presentation] = number
    guard json || verbose else { return }
    write(json: JSON(members), plain: number.map { "\($0)\n" } ?? line)
  }
}

extension WaitOutcome {
  /// Writes the result.
  /// - Parameters:
  ///   - asking: whether an end without an answer is a failure.
  ///   - propagating: whether navctl exits with the command's status.
  /// - Throws: `ExitCode` or `Failure` for every exit status except 0.
  func report(
    _ daemon: DaemonClient, _ global: GlobalOptions, asking: Bool = false, propagating: Bool = false
  ) throws {
    if global.json {
      global.write(json: json, plain: "")
    } else if !global.quiet {
      StandardOutput.write(output: result.output ?? [])
      if result.outputTruncated == true {
        ErrorOutput.write("navctl: \(daemon.operation): the output is incomplete: navd keeps only its beginning")
      }
    }
    if propagating {
      guard let status = exitStatus else {
        throw Failure(
          daemon.operation,
          "the program's exit status is not known (\(reason))"
            + (result.error.map { ": \(ErrorOutput.part($0))" } ?? ""),
          status: .ownFailure)
      }
      if status != 0 { throw ExitCode(status) }
    } else if hasFailed {
      throw Failure(
        daemon.operation, result.error.map(ErrorOutput.part) ?? "it could not be opened, or its program crashed")
    }
    // A program that was asked to end may have ended with 0.
    if asking, let whyUnanswered {
      throw Failure(
        daemon.operation, "there is no answer: \(whyUnanswered)", status: propagating ? .ownFailure : .unanswered)
    }
  }
}
