import Testing

// The rows of the table in docs/windows.md that `make check-desktops` writes.

@Test("A release of a compositor stands in the table beside the others, the oldest first, with their notes")
private func conformanceTable_newRelease_standsAfterOlderOnes() {
  let lines = [
    "| backend | on | close |", "|---|---|---|", "| `a` | x 0.8 | yes, so |", "| `a` | y 1.0 | no |",
    "| `b` | x 2 | yes |",
  ]
  #expect(
    ConformanceTable.adding("`a`", "x 0.20", ["yes"], to: lines)[2...3] == [lines[2], "| `a` | x 0.20 | yes, so |"])
  #expect(ConformanceTable.adding("`a`", "x 0.7.9", ["no"], to: lines)[2...3] == ["| `a` | x 0.7.9 | no |", lines[2]])
  #expect(ConformanceTable.adding("`a`", "x 0.8", ["fails"], to: lines)[2] == "| `a` | x 0.8 | fails |")
  #expect(ConformanceTable.adding("`a`", "z 3", ["yes"], to: lines)[4] == "| `a` | z 3 | yes |")
  #expect(ConformanceTable.adding("`c`", "x 3", ["yes"], to: lines)[5] == "| `c` | x 3 | yes |")
}

@Test("The table of docs/windows.md has the releases of a compositor beside each other, the oldest first")
private func documents_tableOfDesktops_isInOrder() throws {
  let lines = try ConformanceTable.lines()
  func name(_ cells: [String]) -> [String] { [cells[0], String(cells[1].prefix { $0 != " " })] }
  for (index, line) in lines.enumerated().dropFirst(2) {
    let cells = ConformanceTable.cells(line)
    var others = lines
    others.remove(at: index)
    guard others.contains(where: { name(ConformanceTable.cells($0)) == name(cells) }) else { continue }
    #expect(
      ConformanceTable.adding(cells[0], cells[1], Array(cells.dropFirst(2)), to: others) == lines,
      "\(cells[1]) stands elsewhere")
  }
}
