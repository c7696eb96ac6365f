import Glibc
import TestSupport
import Testing

@testable import CoordinatorDaemon

// Desktop files as a source of window ids (N1).

@Test("N1: a desktop file gives the ids of its program's windows, if it is the only one for that program")
func desktopEntries_ofPrograms_giveIDs() throws {
  let directory = TemporaryDirectory()
  mkdir(directory.path(of: "applications"), 0o700)
  let files = [
    "org.example.Files": """
    [Desktop Entry]
    Name=Files
    Name[de]=Dateien
    Exec=/usr/bin/files %U
    StartupWMClass=Files
    [Desktop Action new]
    Exec=other
    """,
    "plain": "[Desktop Entry]\r\nExec=plain\r\nExecutable=no\r\n",
    "twice": "[Desktop Entry]\nExec=same\n", "again": "[Desktop Entry]\nExec=same\n",
    "with-arguments": "[Desktop Entry]\nExec=files --private\n",
  ]
  for (name, text) in files {
    try Files.write(text, to: directory.path(of: "applications/\(name).desktop"))
  }
  let entries = DesktopEntries(directories: [Array(directory.path.utf8)])
  #expect(entries.ids(of: "files") == ["org.example.Files", "Files"])
  #expect(entries.ids(of: "plain") == ["plain"])
  #expect(entries.ids(of: "same") == [])
  #expect(entries.ids(of: "other") == [])
}

@Test("N1: desktop files are read again when one was added, changed or removed")
func desktopEntries_afterChange_areReadAgain() throws {
  let directory = TemporaryDirectory()
  let later = directory.path(of: "later")
  let entries = DesktopEntries(directories: [directory.path, later].map { Array($0.utf8) })
  #expect(entries.ids(of: "files") == [])
  mkdir(directory.path(of: "applications"), 0o700)
  let file = directory.path(of: "applications/a.desktop")
  try Files.write("[Desktop Entry]\nExec=files\n", to: file)
  #expect(entries.ids(of: "files") == ["a"])
  try Files.write("[Desktop Entry]\nExec=files\nStartupWMClass=Files\n", to: file)
  #expect(entries.ids(of: "files") == ["a", "Files"])
  mkdir(later, 0o700)
  mkdir("\(later)/applications", 0o700)
  try Files.write("[Desktop Entry]\nExec=files\n", to: "\(later)/applications/b.desktop")
  #expect(entries.ids(of: "files") == [])
  unlink(file)
  #expect(entries.ids(of: "files") == ["b"])
}
