import PresentationModel

/// A program that outlives the last window of its item, as `navctl doctor` describes it (N3).
struct LeftProgram: CustomStringConvertible {
  let destination: String?
  let platform: StateEntry

  var description: String {
    let place = platform.unit.map { "unit \($0)" } ?? platform.pid.map { "process \($0)" }
    let name = destination.map { "“\($0)”" } ?? "a command"
    return "\(name) goes on without a window" + (place.map { " (\($0))" } ?? "")
  }
}
