import CLinux
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

@testable import CoordinatorDaemon

// Sandboxes of clients, as the kernel tells of them: security labels, cgroups and processes (L3).

private func sandbox(of credentials: Properties) -> Result<Sandbox?, Sandbox.Unknown> {
  Result { () throws(Sandbox.Unknown) in try Sandbox(of: Credentials(credentials)) }
}

@Test(
  "L3: a snap is recognized by its AppArmor label",
  arguments: [
    ("snap.firefox.firefox (enforce)\0", Sandbox.snap), ("snap.code.code (complain)\0", .snap),
    ("snap.firefox.hook.configure\0", .snap), ("unconfined\0", nil), ("/usr/bin/snap (enforce)\0", nil),
    ("unconfined_u:unconfined_r:unconfined_t:s0\0", nil), ("", nil),
  ])
func sandbox_securityLabel_identifiesIt(_ label: String, _ sandbox: Sandbox?) {
  #expect(Sandbox.named(bySecurityLabel: Array(label.utf8)) == sandbox)
}

private let user = "/user.slice/user-1000.slice/user@1000.service/app.slice"

@Test(
  "L3: a program in a sandbox is recognized by its cgroup",
  arguments: [
    ("0::\(user)/snap.firefox.firefox-8a2b.scope\n", Sandbox.snap),
    ("0::/system.slice/snap.lxd.daemon.service\n", .snap),
    ("12:freezer:/snap.firefox\n1:name=systemd:\(user)/app-foot.scope\n", .snap),
    ("0::\(user)/app-flatpak-org.gnome.Maps-1234.scope\n", .flatpak),
    ("1:name=systemd:\(user)/app-flatpak-org.gnome.Maps-1234.scope/inner\n0::/\n", .flatpak),
    ("0::\(user)/app-gnome-foot-77.scope\n", nil), ("0::\(user)/snapshot.service\n", nil),
    ("0::\(user)/flatpak-session-helper.service\n", nil), ("0::/\n", nil), ("", nil), ("snap.x", nil),
  ])
func sandbox_controlGroups_identifyIt(_ text: String, _ sandbox: Sandbox?) {
  #expect(Sandbox.named(byControlGroups: Array(text.utf8)) == sandbox)
}

@Test("L3: a process that cannot be inspected does not count as unconfined")
func sandbox_process_isFoundOrUnknown() throws {
  let own = Value.uint32(UInt32(getpid()))
  #expect(sandbox(of: ["ProcessID": own]) == .success(nil))
  #expect(
    sandbox(of: ["ProcessID": own, "LinuxSecurityLabel": .bytes(Array("snap.a.b (enforce)\0".utf8))]) == .success(.snap)
  )
  #expect(sandbox(of: [:]) == .failure(Sandbox.Unknown(why: "the bus does not name its process")))
  #expect(
    sandbox(of: ["ProcessID": .uint32(0)]) == .failure(Sandbox.Unknown(why: "the bus does not name its process")))
  guard case .failure(let unknown) = sandbox(of: ["ProcessID": .uint32(4_194_305)]) else {
    Issue.record("no process has this number")
    return
  }
  #expect(unknown.why.hasSuffix("read /proc/4194305/cgroup: No such file or directory"))
}

@Test("L3: a process id that was reused is not taken for the client's")
func sandbox_endedProcess_isUnknown() throws {
  var pid: pid_t = 0
  let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
  defer { free(arguments[0]) }
  #expect(posix_spawn(&pid, "/bin/true", nil, nil, arguments, linux_environment()) == 0)
  let process = Descriptor(owning: pidfd_open(pid, 0))
  waitpid(pid, nil, 0)
  // The id of the ended process seems to be that of this process now.
  let credentials: Properties = ["ProcessID": .uint32(UInt32(getpid())), "ProcessFD": .descriptor(process)]
  #expect(sandbox(of: credentials) == .failure(Sandbox.Unknown(why: "its process has ended")))
  let own = Descriptor(owning: pidfd_open(getpid(), 0))
  #expect(sandbox(of: ["ProcessID": .uint32(UInt32(getpid())), "ProcessFD": .descriptor(own)]) == .success(nil))
}

@Test(
  "L3: a process whose root is closed to navd is free if the kernel says that nothing confines it",
  arguments: [
    ("Uid:\t1000\t1000\t1000\t1000\nGid:\t7\t7\t7\t7\nNSpid:\t31\nNoNewPrivs:\t0\nSeccomp:\t0\n", true),
    ("Uid:\t1000\t1000\t1000\t1000\nNSpid:\t31\t2\nNoNewPrivs:\t0\nSeccomp:\t0\n", false),
    ("Uid:\t1000\t1000\t1000\t1000\nNSpid:\t31\nNoNewPrivs:\t1\nSeccomp:\t0\n", false),
    ("Uid:\t1000\t1000\t1000\t1000\nNSpid:\t31\nNoNewPrivs:\t0\nSeccomp:\t2\n", false),
    ("Uid:\t1000\t0\t1000\t1000\nNSpid:\t31\nNoNewPrivs:\t0\nSeccomp:\t0\n", false),
    ("Uid:\t1000\t1000\t1000\t1000\nNSpid:\t31\nSeccomp:\t0\n", false), ("", false),
  ])
func sandbox_closedRoot_isDecidedByTheKernel(_ status: String, _ isFree: Bool) {
  #expect(Sandbox.isFree(bySayingOf: Array(status.utf8), user: 1000) == isFree)
}
