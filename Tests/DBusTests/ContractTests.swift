import DBusValues
import Testing

@testable import DBus

// Interfaces declared in Swift: the signatures, the arguments and the introspection that follow from a declaration.

enum Sample {
  static let name: InterfaceName = "org.example.Sample1"
  static let nothing = Method(name, "Nothing")
  static let pop = Method(
    name, "Pop", in: Arg<String>("stack", doc: "Which one."), Arg<UInt32>("count"),
    out: Arg<UInt32>("popped", doc: "How many went."),
    doc: "Takes from the top.\n\nNever more than <there> are & never --forced.")
  static let path = Method(
    name, "SetPath", in: Arg<[Structure<String, String, Properties>]>("elements"), Arg<Properties>("options"),
    out: Arg<[ObjectPath]>("presentations"), Arg<UInt64>("serial"),
    annotations: [Annotation("org.freedesktop.DBus.Deprecated", "true")])
  static let updated = Signal(
    name, "Updated", Arg<String>("binding"), Arg<UInt64>("serial"), doc: "Something differs.")
  static let version = Property<UInt32>(name, "Version", emitsChanged: .const, doc: "Of this interface.")
  static let title = Property<String>(name, "Title", access: .readWrite)
  static let interface = Interface(
    name, doc: "An example. For tests.", members: [nothing, pop, path, updated, version, title])
}

/// A received call with the arguments that `body` writes.
private func received(
  _ signature: Signature, _ body: (inout MessageWriter) throws(DBusError) -> Void = { _ throws(DBusError) in }
) throws -> Message {
  let header = MessageHeader(
    kind: .methodCall, fields: HeaderFields(interface: Sample.name, member: "Pop", signature: signature), path: "/",
    destination: "a.b")
  return try #require(LibDBus.read(try OutgoingMessage(header, body)))
}

private func input<Input, Output>(of message: Message, _ method: Method<Input, Output>) throws(DBusError) -> Input {
  var budget = 10_000
  return try method.input(of: message, budget: &budget)
}

@Test func method_signatures_areThoseOfItsArguments() {
  #expect(Sample.nothing.inArguments.signature == "")
  #expect(Sample.pop.inArguments.signature == "su")
  #expect(Sample.pop.outArguments.signature == "u")
  #expect(Sample.path.inArguments.signature == "a(ssa{sv})a{sv}")
  #expect(Sample.path.outArguments.signature == "aot")
}

@Test func method_inputAndOutputWritten_areReadAsTheSame() throws {
  var arguments = ("main", UInt32(3))
  let message = try received("su") { writer throws(DBusError) in try Sample.pop.inArguments.write(&arguments, &writer) }
  let (stack, count) = try input(of: message, Sample.pop)
  #expect(stack == "main")
  #expect(count == 3)

  var output: UInt32 = 7
  let reply = try received("u") { writer throws(DBusError) in try Sample.pop.outArguments.write(&output, &writer) }
  let popped: UInt32 = try Sample.pop.output(of: reply)
  #expect(popped == 7)
  try input(of: received(""), Sample.nothing)
}

@Test func method_structuresAndPropertiesWritten_areReadAsTheSame() throws {
  let options: Properties = ["a": .int32(1), "b": .bytes([1, 2]), "c": ["d": Value.string("e")].value]
  let message = try received("a(ssa{sv})a{sv}") { writer throws(DBusError) in
    var arguments = ([Structure("fact", "1", options)], options)
    try Sample.path.inArguments.write(&arguments, &writer)
  }
  let (elements, back) = try input(of: message, Sample.path)
  #expect(back == options)
  #expect(elements[0].fields.2 == options)
}

@Test func input_wrongSignature_namesTheArgumentAndBothTypes() throws {
  let message = try received("ss") { writer throws(DBusError) in
    try writer.append("main")
    try writer.append("3")
  }
  let error = #expect(throws: DBusError.self) { try input(of: message, Sample.pop) }
  #expect(error?.name == .invalidArgs)
  #expect(error?.message == "argument 2, “count”: expected u (s stack, u count), found s")
  let few = #expect(throws: DBusError.self) { try input(of: received(""), Sample.pop) }
  #expect(few?.message == "expected 2 arguments (s stack, u count), found 0")
}

@Test func introspection_overTheBus_hasTheDocumentationAsAnnotations() {
  var xml = IntrospectionXML(docs: .annotations)
  xml.document {
    $0.interface(Sample.interface)
    $0.child("child")
  }
  #expect(
    xml.text == """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
      <node>
        <interface name="org.example.Sample1">
          <annotation name="org.gtk.GDBus.DocString" value="An example. For tests."/>
          <method name="Nothing"/>
          <method name="Pop">
            <annotation name="org.gtk.GDBus.DocString" value="Takes from the top.&#10;&#10;Never more than &lt;there&gt; are &amp; never --forced."/>
            <arg name="stack" type="s" direction="in">
              <annotation name="org.gtk.GDBus.DocString" value="Which one."/>
            </arg>
            <arg name="count" type="u" direction="in"/>
            <arg name="popped" type="u" direction="out">
              <annotation name="org.gtk.GDBus.DocString" value="How many went."/>
            </arg>
          </method>
          <method name="SetPath">
            <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
            <annotation name="org.qtproject.QtDBus.QtTypeName.In1" value="QVariantMap"/>
            <arg name="elements" type="a(ssa{sv})" direction="in"/>
            <arg name="options" type="a{sv}" direction="in"/>
            <arg name="presentations" type="ao" direction="out"/>
            <arg name="serial" type="t" direction="out"/>
          </method>
          <signal name="Updated">
            <annotation name="org.gtk.GDBus.DocString" value="Something differs."/>
            <arg name="binding" type="s"/>
            <arg name="serial" type="t"/>
          </signal>
          <property name="Version" type="u" access="read">
            <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            <annotation name="org.gtk.GDBus.DocString" value="Of this interface."/>
          </property>
          <property name="Title" type="s" access="readwrite">
            <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
          </property>
        </interface>
        <node name="child"/>
      </node>

      """)
}

@Test func introspection_asAFile_hasTheDocumentationAsComments() {
  let xml = Sample.interface.xmlFile()
  #expect(!xml.contains("DocString"))
  #expect(
    xml.contains(
      """
          <!--
            Pop:
            @stack: Which one.
            @popped: How many went.

            Takes from the top.

            Never more than <there> are & never - -forced.
          -->
          <method name="Pop">
            <arg name="stack" type="s" direction="in"/>

      """))
  #expect(
    xml.contains(
      """
        <!--
          org.example.Sample1:
          @short_description: An example

          An example. For tests.
        -->
        <interface name="org.example.Sample1">

      """))
}
