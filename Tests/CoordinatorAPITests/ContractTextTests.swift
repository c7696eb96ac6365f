import CoordinatorAPI
import DBusValues
import PresentationModel
import Testing
import TextFormats

// The texts of error names, exit codes and durations, on which scripts and files depend.

@Test func errorNames_all_areThoseOfTheContract() {
  #expect(
    CoordinatorError.Name.allCases.map(\.errorName.text)
      == [
        "InvalidBinding", "InvalidArgument", "UnknownDestination", "UnknownTag", "UnknownPresentation", "NotPresented",
        "Stale", "Busy", "AlreadyInStack", "UnknownContainerValue", "ContainerValueType", "LimitExceeded",
        "InvalidConfiguration", "AccessDenied", "ShuttingDown", "NotRecorded", "Declined",
        "UnknownWindow", "NotSupported", "Held",
      ].map { "org.navd.Error.\($0)" })
  for name in CoordinatorError.Name.allCases {
    #expect(ErrorName(name.errorName.text as String) == name.errorName)
    #expect(CoordinatorError.Name(name.errorName) == name)
  }
  #expect(CoordinatorError.Name("org.navd.Error.Nonsense") == nil)
  #expect(CoordinatorError.Name("org.freedesktop.DBus.Error.Failed") == nil)
}

@Test(
  arguments: [
    ("org.navd.Error.InvalidBinding", 2), ("org.navd.Error.InvalidArgument", 2), ("org.navd.Error.NotPresented", 3),
    ("org.navd.Error.ContainerValueType", 2), ("org.navd.Error.UnknownDestination", 4),
    ("org.navd.Error.UnknownTag", 4), ("org.navd.Error.UnknownPresentation", 4),
    ("org.navd.Error.UnknownContainerValue", 4), ("org.navd.Error.Busy", 6), ("org.navd.Error.Stale", 6),
    ("org.navd.Error.LimitExceeded", 6), ("org.navd.Error.AlreadyInStack", 6), ("org.navd.Error.AccessDenied", 6),
    ("org.navd.Error.UnknownWindow", 4), ("org.navd.Error.NotSupported", 6), ("org.navd.Error.Held", 6),
    ("org.navd.Error.InvalidConfiguration", 1), ("org.navd.Error.NotRecorded", 1), ("org.navd.Error.ShuttingDown", 8),
    ("org.freedesktop.DBus.Error.Timeout", 5), ("org.freedesktop.DBus.Error.NoReply", 8),
    ("org.freedesktop.DBus.Error.ServiceUnknown", 8),
    ("org.freedesktop.DBus.Error.NameHasNoOwner", 8), ("org.freedesktop.DBus.Error.NoServer", 8),
    ("org.freedesktop.DBus.Error.Spawn.ExecFailed", 8), ("org.freedesktop.DBus.Error.AccessDenied", 6),
    ("org.freedesktop.DBus.Error.InvalidArgs", 2), ("org.freedesktop.DBus.Error.UnknownMethod", 1),
    ("com.example.Error", 1),
  ] as [(String, Int32)])
func commandStatus_ofAnError_isThatOfTheContract(name: String, code: Int32) throws {
  #expect(CommandStatus(try #require(ErrorName(name))).rawValue == code)
}

@Test(
  arguments: [
    ("3s", 3000), ("500ms", 500), ("1.5s", 1500), ("2m", 120_000), ("2min", 120_000), ("1h", 3_600_000), ("0s", 0),
    ("0.0004s", 0), ("0.0005s", 1), ("5", 5000), ("1m30s", 90_000),
    ("1h0.5s", 3_600_500), ("2m5s10ms", 125_010),
  ] as [(String, UInt64)])
func duration_text_isMilliseconds(text: String, milliseconds: UInt64) throws {
  #expect(try DurationText.milliseconds(text, bare: 1000) == milliseconds)
}

@Test(arguments: [
  "", "s", "5", "-1s", "+1s", "1 s", " 1s", "1d", "1.s", ".5s", "1.5.5s", "1e3s", "nan", "inf", "٣s", "0x3s",
  "1m30", "30s1m", "1s1s", "1m 30s", "1m.5s",
])
func duration_invalidText_isRefused(text: String) {
  #expect(throws: DurationText.Mistake.notADuration) { try DurationText.milliseconds(text) }
}

@Test(arguments: [
  "99999999999999999999h", "9999999999999h", "18446744073709552s", String(repeating: "9", count: 400) + "s",
])
func duration_tooLong_isRefusedAsThat(text: String) {
  #expect(throws: DurationText.Mistake.tooLong) { try DurationText.milliseconds(text) }
}

@Test(
  arguments: [
    (0, "0ms"), (999, "999ms"), (1000, "1s"), (1500, "1.5s"), (60_000, "1m"), (90_250, "1m 30.25s"),
    (3_600_001, "1h 0.001s"),
    (.max, "5124095576030h 25m 51.615s"),
  ] as [(UInt64, String)])
func duration_exactText_hasAllUnits(milliseconds: UInt64, text: String) {
  #expect(DurationText.exactText(milliseconds) == text)
}

@Test func presentation_path_isItsNumber() {
  #expect(CoordinatorNames.number(of: CoordinatorNames.presentation(17)) == 17)
  #expect(CoordinatorNames.number(of: .root) == nil)
  #expect(CoordinatorNames.number(of: "/org/navd/Coordinator1/presentation/017") == nil)
}
