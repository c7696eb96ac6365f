import DBusValues
import PresentationModel
import Processes
import TextFormats

/// The properties of the transient service of a command (`org.freedesktop.systemd1(5)`).
struct ServiceProperties {
  let program: String
  /// The arguments of a shell that ends itself by a signal which no other program sends. A manager runs it when it reads a unit
  /// again before the start of the command, and cannot read the command.
  static let placeholder: [ByteString] = ["sh", "-c", ByteString("kill -\(placeholderSignal) 0")]
  static let placeholderSignal: Int32 = 61
  /// All properties except the descriptors.
  let list: [Structure<String, Value>]

  /// - Returns: nil if the bus cannot carry the command, because its strings are UTF-8, or if the manager cannot: it writes the
  ///   directory into a file with one setting in each line, and reads that file again (systemd 252).
  init?(_ launch: Launch, _ program: ByteString, leavingOutInherited: Bool) {
    let arguments = launch.command.arguments.compactMap(\.text)
    guard let program = program.text, arguments.count == launch.command.arguments.count,
      let directory = launch.command.directory.text,
      !directory.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { return nil }
    var environment: [String] = []
    for (name, value) in launch.command.environment {
      let isInherited = !launch.given.contains(name)
      if isInherited, leavingOutInherited { continue }
      if let name = name.text, let value = value.text, Self.isVariable(name) {
        environment.append("\(name)=\(value)")
      } else if !isInherited {
        return nil
      }
      // Functions that some shells export are left out, since the manager rejects their names.
    }
    environment.append("\(CommandPresenter.markerVariable)=\(launch.marker)")
    self.program = program
    let execution = Structure(program, arguments, ["no-env-expand"])
    // A limit lets the manager complete a dismissal even if navd has ended. 0 would mean no limit.
    let grace = max(1, launch.grace).multipliedReportingOverflow(by: 1000)
    list = [
      Structure("Description", .string(Self.description(launch))), Structure("Slice", .string("app.slice")),
      // The type is not “exec”: the manager ends such a service, with all its processes, if its first process ends before the manager
      // has seen it execute.
      Structure("Type", .string("simple")), Structure("ExitType", .string(launch.scope == .tree ? "cgroup" : "main")),
      // A manager that reads its units again (`systemctl --user daemon-reload`) reads “$” for “$$” in `ExecStart` (systemd 257), or
      // for “\$” (252, which does not know `ExecStartEx` there). The command here is one that it reads correctly; without any, the
      // unit would be invalid.
      Structure("ExecStart", [Structure("/bin/sh", Self.placeholder.map(\.description), false)].value),
      Structure("ExecStartEx", [Structure<String, [String], [String]>]().value),
      Structure("ExecStartEx", [execution].value), Structure("Environment", environment.value),
      Structure("WorkingDirectory", .string(directory)),
      // The journal cannot be used for both: errors would follow the descriptor for output.
      Structure("StandardOutput", .string(launch.scope == .tree ? "null" : "journal")),
      Structure("StandardError", .string("journal")),
      // The other processes of scope “process” stay in the cgroup of the inactive unit, and keep it loaded.
      Structure("KillMode", .string(launch.scope == .tree ? "control-group" : "process")),
      Structure("SendSIGHUP", .boolean(false)),
      // The mark by which navd knows a process that has left the cgroup.
      Structure("LimitLOCKSSoft", .uint64(DescentMark(launch.marker).number)),
      Structure("TimeoutStopUSec", .uint64(grace.overflow ? .max : grace.partialValue)),
      // This is the kernel's default; systemd's default differs.
      Structure("IgnoreSIGPIPE", .boolean(false)),
      // The kernel kills one process; its siblings live on.
      Structure("OOMPolicy", .string("continue")), Structure("CollectMode", .string("inactive-or-failed")),
    ]
  }

  /// A description in one line without control characters.
  private static func description(_ launch: Launch) -> String {
    let words =
      "navd: \(launch.binding)\(launch.id.isEmpty ? "" : " \(launch.id)")\(launch.occasion.isEmpty ? "" : " (\(launch.occasion))")"
      .unicodeScalars
    return String(String.UnicodeScalarView(words.filter { $0.properties.generalCategory != .control }))
  }

  /// Whether the manager accepts the name of a variable.
  private static func isVariable(_ name: String) -> Bool {
    BindingID.isName(name) && !name.utf8.contains(UInt8(ascii: "-"))
  }
}

extension ByteString {
  /// The bytes as text; nil if they are not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }
}
