import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// Code generators on the files in dbus/, and libraries that make objects from the introspection of the running daemon.

/// Whether tests also compile code that takes a compiler many seconds (`NAVD_TEST_CLIENTS`, set by `make check-clients`).
private let compilesAll = getenv("NAVD_TEST_CLIENTS") != nil

private let files = Contract.interfaces.map { "\(Files.package)/dbus/\($0.name).xml" }

extension Session {
  /// Runs a program that must succeed.
  /// - Parameter mayWarn: whether the program may write to standard error.
  /// - Returns: the standard output of the program.
  @discardableResult
  fileprivate func succeed(_ program: String, _ arguments: [String], mayWarn: Bool = false) throws -> String {
    let run = try run(program: program, arguments)
    #expect(
      run.exitCode == 0 && (mayWarn || run.errorText == ""), "\(program) \(arguments): \(run.errorText.prefix(2000))")
    return run.outputText
  }

  /// The options of the compiler for a library.
  fileprivate func flags(_ option: String, of library: String) throws -> [String] {
    try succeed("/usr/bin/pkg-config", [option, library]).split(whereSeparator: \.isWhitespace).map(String.init)
  }
}

@Test("The C that gdbus-codegen makes compiles")
func generator_ofGLib_makesCThatCompiles() throws {
  let session = try Session(starting: false)
  try session.succeed(
    "/usr/bin/gdbus-codegen",
    ["--c-namespace", "Navd", "--interface-prefix", "org.navd.", "--generate-c-code", session.path("navd")] + files)
  try session.succeed(
    "/usr/bin/gcc",
    ["-fsyntax-only", "-Wall", "-Werror", session.path("navd.c")] + session.flags("--cflags", of: "gio-unix-2.0"))
}

@Test("The C++ that sdbus-c++-xml2cpp makes compiles", .enabled(if: compilesAll))
func generator_ofSdbus_makesCxxThatCompiles() throws {
  let session = try Session(starting: false)
  var code = ""
  for (file, name) in zip(files, Contract.interfaces.map(\.name)) {
    for kind in ["proxy", "adaptor"] {
      // The generator tells which annotations it does not know.
      try session.succeed(
        "/usr/bin/sdbus-c++-xml2cpp", [file, "--\(kind)=\(session.path("\(name).\(kind).h"))"], mayWarn: true)
      code += "#include \"\(name).\(kind).h\"\n"
    }
  }
  try session.write(code, to: "all.cpp")
  try session.succeed(
    "/usr/bin/g++",
    ["-std=c++17", "-fsyntax-only", "-Wall", "-Werror", session.path("all.cpp")]
      + session.flags("--cflags", of: "sdbus-c++"))
}

/// A version of Qt with its tools.
private enum Qt: Int, CaseIterable {
  case five = 5
  case six = 6

  var generator: String { "/usr/lib/qt\(rawValue)/bin/qdbusxml2cpp" }
  var moc: String { self == .five ? "/usr/lib/qt5/bin/moc" : "/usr/lib/qt6/libexec/moc" }
  var package: String { "Qt\(rawValue)DBus" }
}

@Test("The C++ that qdbusxml2cpp makes compiles, with Qt 5 and 6", .enabled(if: compilesAll), arguments: Qt.allCases)
private func generator_ofQt_makesCxxThatCompiles(_ qt: Qt) throws {
  let session = try Session(starting: false)
  for (file, name) in zip(files, Contract.interfaces.map(\.name)) {
    for (kind, option) in [("proxy", "-p"), ("adaptor", "-a")] {
      let base = "\(name.text.split(separator: ".").last!)_\(kind)"
      try session.generate(file, option, base, qt)
      try session.write("#include \"\(base).cpp\"\n#include \"\(base)_moc.cpp\"\n", to: "all.cpp")
      // The bodies of the functions of an adaptor are still empty.
      try session.compile(["-Wno-return-type", "-fsyntax-only", session.path("all.cpp")], qt)
    }
  }
}

@Test(
  "A program of Qt 5 or 6 with generated code presents an item and waits for its end", .enabled(if: compilesAll),
  arguments: Qt.allCases)
private func generatedCode_ofQt_presents(_ qt: Qt) throws {
  let session = try Session(destinations: ["fact": "command = [\"sleep\", \"1000\"]"])
  try session.generate(files[0], "-p", "coordinator", qt)
  let program = session.path("present")
  let objects = try ["\(recipe)/present.cpp", session.path("coordinator.cpp"), session.path("coordinator_moc.cpp")].map
  {
    try session.compile(["-c", $0, "-o", session.path("\($0.split(separator: "/").last!).o")], qt)
    return session.path("\($0.split(separator: "/").last!).o")
  }
  try session.compile(["-o", program] + objects, qt, linking: true)
  #expect(
    try session.succeed(program, []) == """
      /org/navd/Coordinator1/presentation/1
      at most 2048 items
      expired

      """)
}

private let recipe = "\(Files.package)/docs/recipes/qt"

extension Session {
  fileprivate func generate(_ file: String, _ option: String, _ base: String, _ qt: Qt) throws {
    try succeed(qt.generator, [file, "-i", "navdtypes.h", option, path(base)])
    try succeed(qt.moc, [path("\(base).h"), "-o", path("\(base)_moc.cpp")])
  }

  fileprivate func compile(_ arguments: [String], _ qt: Qt, linking: Bool = false) throws {
    try succeed(
      "/usr/bin/g++",
      ["-std=c++17", "-fPIC", "-Wall", "-Werror", "-I\(home)", "-I\(recipe)"] + arguments
        + flags("--cflags", of: qt.package) + (linking ? flags("--libs", of: qt.package) : []))
  }

  private var home: String { path("") }
}

@Test("Python's libraries read every live object, and call it", arguments: ["dbus_next", "dbus_fast"])
func library_ofPython_readsAndCallsObjects(name: String) throws {
  let session = try Session()
  try session.write(
    """
    import asyncio, importlib, sys
    library = importlib.import_module(sys.argv[1])
    MessageBus = importlib.import_module(sys.argv[1] + ".aio").MessageBus
    bus_name, path = "org.navd.Coordinator1", "/org/navd/Coordinator1"

    async def objects(bus, path):
        node = await bus.introspect(bus_name, path)
        proxy = bus.get_proxy_object(bus_name, path, node)
        for interface in node.interfaces:
            if interface.name.startswith("org.navd."):
                print(path, interface.name)
                for property in interface.properties:
                    object = proxy.get_interface(interface.name)
                    await getattr(object, "get_" + object._to_snake_case(property.name))()
        for child in node.nodes:
            await objects(bus, path.rstrip("/") + "/" + child.name)

    async def main():
        bus = await MessageBus().connect()
        node = await bus.introspect(bus_name, path)
        coordinator = bus.get_proxy_object(bus_name, path, node).get_interface(bus_name)
        ended = asyncio.get_running_loop().create_future()
        state = {"state": library.Variant("b", True)}
        coordinator.on_dismissed(lambda binding, id, handle, presentation, serial, reason: ended.set_result(reason))
        await coordinator.call_present("fact", "1", {"timeout": library.Variant("i", 60000)} | state)
        await coordinator.call_select("panels", "a", state)
        await coordinator.call_push("main", "first", "", state)
        await coordinator.call_hold("dnd", {})
        await objects(bus, "/")
        await coordinator.call_dismiss("fact", {})
        print(await ended)

    asyncio.run(main())
    """, to: "client.py")
  #expect(
    try session.succeed("/usr/bin/python3", [session.path("client.py"), name]) == """
      /org/navd/Coordinator1 org.navd.Coordinator1
      /org/navd/Coordinator1/group/panels org.navd.Group1
      /org/navd/Coordinator1/hold/dnd org.navd.Hold1
      /org/navd/Coordinator1/presentation/1 org.navd.Presentation1
      /org/navd/Coordinator1/presentation/2 org.navd.Presentation1
      /org/navd/Coordinator1/presentation/3 org.navd.Presentation1
      /org/navd/Coordinator1/stack/main org.navd.Stack1
      dismissed

      """)
}
