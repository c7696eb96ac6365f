import PresentationModel
import Testing
import TextFormats

@testable import navctl

// The rules that navctl windows --rules makes of the files of destinations.

@Suite struct CompositorRulesTests {
  private static let mixer = WindowPattern(appID: "mixer")

  private static func rules(
    _ compositor: Compositor, _ placement: WindowPlacement, _ pattern: WindowPattern = mixer
  ) -> String {
    compositor.rules("mixer", pattern, placement).joined(separator: "\n")
  }

  private static func panel() throws -> WindowPlacement {
    WindowPlacement(.anchor(.topRight), size: try .init("640 400"), margin: 20)
  }

  @Test("A panel at the upper right is where the file says, or as near as the compositor's rules can say")
  func rules_ofPanel_areThoseOfTheCompositor() throws {
    let panel = try Self.panel()
    #expect(
      Self.rules(.sway, panel) == """
        # mixer: place = "top-right" needs the size of the output and of the window; nearest is the center, and on an \
        output of 1920 by 1080 pixels without bars: move position 1260 px 20 px
        for_window [app_id="^mixer$"] floating enable, resize set 640 px 400 px, move position center
        """)
    #expect(Self.rules(.i3, panel) == Self.rules(.sway, panel).replacingAll("app_id", with: "class"))
    #expect(
      Self.rules(.hyprland, panel) == """
        -- mixer: its place counts from the edges of the monitor; add the height of a bar
        hl.window_rule({ match = { class = "^mixer$" }, float = true, size = { 640, 400 }, \
        move = { "monitor_w-window_w-20", "20" } })
        """)
    #expect(
      Self.rules(.niri, panel) == """
        window-rule {
            match app-id="^mixer$"
            open-floating true
            default-column-width { fixed 640; }
            default-window-height { fixed 400; }
            default-floating-position x=20 y=20 relative-to="top-right"
        }
        """)
    #expect(
      Self.rules(.labwc, panel) == """
        <windowRule identifier="mixer">
          <action name="ResizeTo" width="640" height="400" />
          <action name="AutoPlace" policy="center" />
          <action name="MoveToEdge" direction="right" snapWindows="no" />
          <action name="MoveToEdge" direction="up" snapWindows="no" />
          <action name="MoveRelative" x="-20" y="20" />
        </windowRule>
        """)
    #expect(
      Self.rules(.openbox, panel) == """
        <!-- mixer: its size counts without the frame -->
        <application class="mixer">
          <position force="yes"><x>-20</x><y>20</y></position>
          <size><width>640</width><height>400</height></size>
        </application>
        """)
    #expect(
      Self.rules(.kwin, panel) == """
        # mixer: place = "top-right" needs the size of the screen and of the window; nearest is the center
        [mixer]
        Description=mixer
        types=1
        wmclass=(?i)^mixer$
        wmclassmatch=3
        size=640,400
        sizerule=3
        placement=5
        placementrule=2
        """)
  }

  @Test("A display of a value on every workspace, above others and without the focus, has the words for that")
  func rules_ofDisplay_sayFocusAndStacking() throws {
    let display = WindowPlacement(
      .anchor(.bottom), size: try .init("50% 10%"), takesFocus: false, isSticky: true, isAbove: true)
    #expect(
      Self.rules(.sway, display) == """
        no_focus [app_id="^mixer$"]
        for_window [app_id="^mixer$"] floating enable, resize set 50 ppt 10 ppt, move position 25 ppt 90 ppt, sticky enable
        """)
    #expect(
      Self.rules(.hyprland, display) == """
        -- mixer: its place counts from the edges of the monitor; add the height of a bar
        hl.window_rule({ match = { class = "^mixer$" }, float = true, size = { "monitor_w*50/100", "monitor_h*10/100" }, \
        move = { "(monitor_w-window_w)/2", "monitor_h-window_h-0" }, pin = true, no_initial_focus = true })
        """)
    #expect(
      Self.rules(.niri, display) == """
        // mixer: sticky = true: niri has no rule for that; it is on one workspace
        // mixer: above = true: niri shows each floating window above the others
        window-rule {
            match app-id="^mixer$"
            open-floating true
            default-column-width { proportion 0.50; }
            default-window-height { proportion 0.10; }
            default-floating-position x=0 y=0 relative-to="bottom"
            open-focused false
        }
        """)
    #expect(
      Self.rules(.labwc, display) == """
        <!-- mixer: size = "50% 10%" needs the size of the output; nearest is the size that the program chooses -->
        <!-- mixer: focus = false: labwc has no rule for that; a new window gets the focus -->
        <windowRule identifier="mixer">
          <action name="AutoPlace" policy="center" />
          <action name="MoveToEdge" direction="down" snapWindows="no" />
          <action name="ToggleOmnipresent" />
          <action name="ToggleAlwaysOnTop" />
        </windowRule>
        """)
    #expect(
      Self.rules(.openbox, display) == """
        <!-- mixer: its size counts without the frame -->
        <application class="mixer">
          <position force="yes"><x>center</x><y>-0</y></position>
          <size><width>50%</width><height>10%</height></size>
          <desktop>all</desktop>
          <layer>above</layer>
          <focus>no</focus>
        </application>
        """)
    #expect(
      Self.rules(.kwin, display) == """
        # mixer: size = "50% 10%" needs the size of the screen; nearest is the size that the program chooses
        # mixer: place = "bottom" needs the size of the screen and of the window; nearest is the center
        # mixer: focus = false: nearest is a window that never gets the focus
        [mixer]
        Description=mixer
        types=1
        wmclass=(?i)^mixer$
        wmclassmatch=3
        placement=5
        placementrule=2
        desktops=
        desktopsrule=3
        above=true
        aboverule=3
        acceptfocus=false
        acceptfocusrule=2
        """)
  }

  @Test("Quotation marks and the letters of XML do not end a rule, and openbox has no brackets")
  func rules_ofStrangePattern_areQuoted() throws {
    let pattern = WindowPattern(appID: "a\"b", title: "[Nn]otes & <x>")
    let sticky = WindowPlacement(isSticky: true)
    #expect(
      Self.rules(.sway, sticky, pattern)
        == #"for_window [app_id="^a.b$" title="^[Nn]otes & <x>$"] floating enable, sticky enable"#)
    #expect(
      Self.rules(.openbox, sticky, pattern) == """
        <!-- mixer: “[…]” and “\\” of its pattern are “?” here, which fits any character -->
        <application class="a&quot;b" title="?otes &amp; &lt;x>">
          <desktop>all</desktop>
        </application>
        """)
    #expect(Compositor.labwc.comment("a -- b") == "<!-- a - - b -->")
  }

  @Test("Without app-id and title, a comment says that no rule can mean the windows", arguments: Compositor.allCases)
  func rules_withoutPattern_areAComment(_ compositor: Compositor) throws {
    let reason = "its file has neither app-id nor title, so that no rule can say which windows are meant"
    #expect(try compositor.rules("mixer", WindowPattern(), Self.panel()) == [compositor.comment("mixer: \(reason)")])
  }
}
