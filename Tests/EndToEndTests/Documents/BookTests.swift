import CoordinatorAPI
import Glibc
import TestSupport
import Testing

// The documents as a whole: links, the changelog, the numbers of rules, counted tables, and the tests that docs/threat-model.md
// names.

/// The documents, by their path relative to the package.
private func documents() throws -> [String] {
  var documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
  for directory in ["docs", "docs/recipes"] {
    for name in try Files.names(in: "\(Files.package)/\(directory)") where name.hasSuffix(".md") {
      documents.append("\(directory)/\(name)")
    }
  }
  return documents
}

/// The targets of Markdown links outside code blocks.
private func links(in text: String) -> [String] {
  var isCode = false
  var links: [String] = []
  for line in text.split(separator: "\n") {
    if line.hasPrefix("```") { isCode.toggle() }
    if isCode { continue }
    for part in line.split(separator: "](", omittingEmptySubsequences: false).dropFirst() {
      links.append(String(part.prefix { $0 != ")" }))
    }
  }
  return links
}

/// The anchors that common renderers give to the headings.
private func anchors(in text: String) -> Set<String> {
  Set(
    text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
      line.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
        .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    })
}

@Test("Every link between documents leads to an existing document and heading, and every document is reachable")
func book_links_haveTargets() throws {
  var reached: Set<String> = []
  for document in try documents() {
    let directory = document.split(separator: "/").dropLast().map { $0 + "/" }.joined()
    for link in links(in: try Files.text(inPackage: document)) where !link.contains("://") {
      let parts = link.split(separator: "#", omittingEmptySubsequences: false)
      let target = parts[0].isEmpty ? document : directory + parts[0]
      let path = try #require(realpath("\(Files.package)/\(target)", nil), "\(document): \(link)")
      defer { free(path) }
      let file = String(String(cString: path).dropFirst(Files.package.count + 1))
      if document == "docs/README.md" { reached.insert(file) }
      guard parts.count > 1 else { continue }
      #expect(anchors(in: try Files.text(inPackage: file)).contains(String(parts[1])), "\(document): \(link)")
    }
  }
  let chapters = try documents().filter { $0.split(separator: "/").count == 2 && $0 != "docs/README.md" }
  #expect(Set(chapters).isSubset(of: reached), "\(Set(chapters).subtracting(reached))")
}

@Test("The changelog begins with unreleased changes, or with this release, and each release has its date")
func book_changelog_isInTheFormOfKeepAChangelog() throws {
  let headings = try Files.text(inPackage: "CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## ") }
  #expect(headings.first == "## Unreleased" || headings.first?.hasPrefix("## \(Release.version) - ") == true)
  for heading in headings where heading != "## Unreleased" {
    #expect(heading.wholeMatch(of: #/## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d/#) != nil, "\(heading)")
  }
}

@Test("The program in docs/swift.md is the result of the library's tutorial, which .ci/docc compiles")
func book_swiftProgram_isTheTutorials() throws {
  let listing = try Files.text(inPackage: "Sources/Navigation/Navigation.docc/Resources/Facts-5.swift")
  #expect(try Markdown("swift.md").files["Sources/facts/Facts.swift"] == listing)
}

@Test("Every Swift sample in docs/swift.md is a part of a file that is compiled, or of one beside it")
func book_swiftSamples_areOfPrograms() throws {
  let whole = ["Package.swift", "Sources/facts/Facts.swift"]
  for block in try Markdown("swift.md").blocks where block.kind.hasPrefix("swift") {
    let name = String(block.kind.dropFirst("swift ".count))
    if whole.contains(name) { continue }
    let parts = name.split(separator: "/")
    let file = parts.last.map(String.init) ?? ""
    let path =
      switch parts.count {
      case 1: "Sources/Navigation/Navigation.docc/Articles/\(file)"
      default:
        file == "Package.swift" || file.hasSuffix(".txt")
          ? "Examples/\(name)" : "Examples/\(parts[0])/Sources/\(parts[0])/\(file)"
      }
    #expect(try Files.text(inPackage: path).contains(block.text), "line \(block.line): expected a part of \(path)")
  }
}

/// The Swift files in a directory and below it.
private func sources(below directory: String) throws -> [String] {
  try Files.names(in: directory).flatMap { name in
    let path = "\(directory)/\(name)"
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      return name.hasSuffix(".swift") ? [path] : []
    }
    return try sources(below: path)
  }
}

/// The numbers of rules in a text, also those within a range such as P1–P4.
private func rules(in text: some StringProtocol) -> Set<String> {
  var rules: Set<String> = []
  for match in String(text).matches(of: #/\b([BCDGHKLNOPRSTUVW])(\d{1,2})(?:–\1(\d{1,2}))?\b/#) {
    guard let first = Int(match.2) else { continue }
    for number in first...max(first, match.3.flatMap { Int($0) } ?? first) { rules.insert("\(match.1)\(number)") }
  }
  return rules
}

@Test("The library's article “Rules” has each number that its documentation mentions, and so has docs/semantics.md")
func book_rulesOfTheLibrary_areExplained() throws {
  let catalogue = "Sources/Navigation/Navigation.docc"
  var mentioned: Set<String> = []
  for target in ["Navigation", "NavigationTesting"] {
    for file in try sources(below: "\(Files.package)/Sources/\(target)") {
      let text = String(decoding: Files.contents(of: file), as: UTF8.self)
      for line in text.split(separator: "\n") where line.contains("///") { mentioned.formUnion(rules(in: line)) }
    }
  }
  for directory in [catalogue, "\(catalogue)/Articles", "\(catalogue)/Tutorials"] {
    for name in try Files.names(in: "\(Files.package)/\(directory)") where name != "Rules.md" && name.contains(".") {
      mentioned.formUnion(rules(in: try Files.text(inPackage: "\(directory)/\(name)")))
    }
  }
  let lines = try Files.text(inPackage: "\(catalogue)/Articles/Rules.md").split(separator: "\n")
  let explained = lines.compactMap { $0.firstMatch(of: #/^- \*\*([A-Z]\d+)\*\*: .+\.$/#).map { String($0.1) } }
  #expect(Set(explained).count == explained.count, "each number once")
  #expect(Set(explained) == mentioned, "\(Set(explained).symmetricDifference(mentioned).sorted())")
  let defined = try Markdown("semantics.md").lines.compactMap { $0.firstMatch(of: #/^\*\*([A-Z]\d+)\.\*\*/#)?.1 }
  #expect(Set(explained).isSubset(of: defined.map(String.init)))
}

/// Counts the programs of one table.
/// - Returns: the lines and characters of the first file, and those of the second.
private func countInBook(_ ours: String, beside theirs: String) throws -> [Int] {
  let session = try Session(starting: false)
  let files = ["count.py", ours, theirs].map { "\(Files.package)/Examples/\($0)" }
  let count = try session.run(program: "/usr/bin/python3", files)
  try #require(count.exitCode == 0, "\(count.errorText)")
  #expect(try Files.text(inPackage: "docs/swift.md").contains(count.outputText), "\(count.outputText)")
  let all = try #require(count.lines.last).split(separator: "|").compactMap { Int($0.filter(\.isNumber)) }
  try #require(all.count == 4)
  return all
}

@Test("The table beside swift-navigation in docs/swift.md has the counts of Examples/count.py")
func book_caseStudies_areCounted() throws {
  let all = try countInBook(
    "CaseStudies/Tests/CaseStudiesTests/Scenarios.swift", beside: "CaseStudies/SwiftNavigation.txt")
  // Our program has fewer lines and characters than the one with swift-navigation.
  #expect(all[0] < all[2] && all[1] < all[3], "\(all)")
}

@Test("The tables beside SwiftUI in docs/swift.md have its counts", arguments: ["GTKFacts", "Inventory"])
func book_examples_areCounted(_ name: String) throws {
  let all = try countInBook("\(name)/Sources/\(name)/Screens.swift", beside: "\(name)/SwiftUI.txt")
  #expect(all[0] < all[2], "\(all)")
}

@Test("Every test that docs/threat-model.md names exists, and every row of its tables names one")
func book_threatModel_namesTests() throws {
  var tests: Set<Substring> = []
  for file in try sources(below: "\(Files.package)/Tests") {
    let text = String(decoding: Files.contents(of: file), as: UTF8.self)
    for part in text.split(separator: "func ").dropFirst() { tests.insert(part.prefix { $0 != "(" && $0 != "<" }) }
  }
  // A table begins with its titles and a line of dashes. The last column has the tests, if there is one.
  var rows = try Markdown("threat-model.md").lines[...]
  var isTested = false
  var count = 0
  while let row = rows.popFirst() {
    guard row.hasPrefix("|"), let last = row.split(separator: "|").last else { continue }
    if rows.first?.hasPrefix("|--") == true {
      isTested = last.contains("tests")
      rows.removeFirst()
    } else if isTested {
      let names = last.split(separator: "`").filter { $0.contains("_") }
      #expect(!names.isEmpty, "no test: \(row)")
      for name in names { #expect(tests.contains(name), "there is no test \(name)") }
      count += names.count
    }
  }
  #expect(count > 50)
}

@Test("The mixer, the network, the calendar and the display of the volume have one file in all documents")
func book_examples_haveOneFileEach() throws {
  var files: [String: [String: String]] = [:]
  let directory = "navd/destinations/"
  // The files of the questions have mistakes on purpose, and the page of i3 uses xterm instead of foot.
  for document in try documents() where !["docs/faq.md", "docs/recipes/i3.md"].contains(document) {
    for block in try Markdown("../\(document)").blocks where block.kind.hasPrefix("toml") {
      var lines = block.lines
      if lines.first?.hasPrefix("# ~/.config/\(directory)") == true { lines.removeFirst() }
      let name = block.kind.hasPrefix("toml ") ? String(block.kind.dropFirst(5)) : block.lines.first ?? ""
      guard let start = name.firstRange(of: directory)?.upperBound else { continue }
      files[String(name[start...]), default: [:]][document] = lines.joined(separator: "\n")
    }
  }
  for name in ["mixer.toml", "wifi.toml", "calendar.toml", "osd.toml"] {
    let found = files[name] ?? [:]
    #expect(found.count > 1 && Set(found.values).count == 1, "\(name): \(found)")
  }
}
