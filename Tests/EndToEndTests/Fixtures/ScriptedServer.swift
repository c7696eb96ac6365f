import TestSupport

/// A Python program that serves a socket by its script, and then runs lines given by a test.
class ScriptedServer {
  let session: Session
  let program: Program
  /// The path of the program's socket.
  let socket: String
  private let pipe: String
  private var told = 0

  private static let beginning = """
    import os, socket, sys, threading
    os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen()
    os.chmod(sys.argv[1], 0o777)
    lock = threading.Lock()

    """

  private static let end = """

    print("ready", flush=True)
    connection, _ = server.accept()
    threading.Thread(target=serve, daemon=True).start()
    while True:
        for line in open(sys.argv[2]):
            exec(line)
        print("done", file=sys.stderr, flush=True)
    """

  /// - Parameters:
  ///   - script: makes the program's other sockets, and defines `serve`, which answers on `connection` in a thread of its own, and
  ///     the functions that tests call. Both take `lock` to send.
  ///   - socket: the path of the program's socket, within the session.
  init(_ session: Session, script: String, socket: String = "fake.socket") throws {
    self.session = session
    self.socket = session.path(socket)
    pipe = session.path("fake.pipe")
    let made = try session.run(program: "/usr/bin/mkfifo", [pipe])
    guard made.exitCode == 0 else { throw Session.Failure(made.errorText) }
    let program = try session.start(
      program: "/usr/bin/python3", ["-c", Self.beginning + script + Self.end, self.socket, pipe])
    self.program = program
    try session.wait("the scripted server listens") { program.lines == ["ready"] || program.hasEnded }
  }

  /// Runs lines of Python in the program, and waits until they have run, or until the program has ended.
  func tell(_ lines: String...) throws {
    try session.write(lines.map { $0 + "\n" }.joined(), to: "fake.lines")
    let run = try session.run(
      program: "/bin/sh", ["-c", "cat \"$1\" >\"$2\"", "sh", session.path("fake.lines"), pipe])
    guard run.exitCode == 0 else { throw Session.Failure(run.errorText) }
    told += 1
    try session.wait("the scripted server has run \(lines)") {
      program.errorText.split(separator: "\n").count { $0 == "done" } >= told || program.hasEnded
    }
  }
}

/// A scripted compositor that the adapter finds by variables.
protocol ScriptedCompositor: ScriptedServer {
  var variables: [String: String] { get }
}
