import TestSupport
import Testing

// Programs of recipes and tests, which find the same libraries on every machine, whatever else is installed there.

/// A program in a file, or in a text within a Swift file.
private struct Script {
  let file: String
  let lines: [Substring]

  static let all: [Script] = {
    let documents = files(in: "docs", endingIn: [".py", ".js", ".md"]).map { Script(file: $0, lines: lines(of: $0)) }
    let embedded = files(in: "Tests", endingIn: [".swift"]).flatMap { file in
      let parts = lines(of: file).split(omittingEmptySubsequences: false) { $0.contains("\"\"\"") }
      return parts.enumerated().filter { $0.offset % 2 == 1 }.map { Script(file: file, lines: Array($0.element)) }
    }
    return documents + embedded
  }()

  private static func files(in directory: String, endingIn ends: [String]) -> [String] {
    let names = (try? Files.names(in: "\(Files.package)/\(directory)")) ?? []
    return names.sorted().flatMap { name in
      let path = "\(directory)/\(name)"
      return ends.contains(where: name.hasSuffix) ? [path] : files(in: path, endingIn: ends)
    }
  }

  private static func lines(of file: String) -> [Substring] {
    ((try? Files.text(inPackage: file)) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The GObject libraries that it imports, and those of which an earlier line names the version, in the program or in a recipe
  /// that it imports.
  func imports() throws -> (imported: [String], isVersioned: [Bool]) {
    var versioned: Set<String> = []
    var (imported, isVersioned): ([String], [Bool]) = ([], [])
    func note(_ name: String, _ hasVersion: Bool) {
      imported.append(name)
      isVersioned.append(hasVersion)
    }
    for line in lines.map({ $0.drop { $0 == " " } }) {
      if let match = line.firstMatch(of: /require_version\("([A-Za-z]+)", "[0-9.]+"\)/) {
        versioned.insert(String(match.1))
      } else if let match = line.prefixMatch(of: /from gi\.repository import ([A-Za-z, ]+)/) {
        for name in match.1.split(whereSeparator: { ", ".contains($0) }) {
          note(String(name), versioned.contains(String(name)))
        }
      } else if let match = line.prefixMatch(of: /import ([a-z, ]+)$/) {
        for module in match.1.split(whereSeparator: { ", ".contains($0) }) {
          let path = "docs/recipes/\(module).py"
          guard path != file, let recipe = Self.all.first(where: { $0.file == path }) else { continue }
          versioned.formUnion(try recipe.imports().imported)
        }
      }
      for match in line.matches(of: /gi:\/\/([A-Za-z]+)(\?version=[0-9.]+)?/) { note(String(match.1), match.2 != nil) }
    }
    return (imported, isVersioned)
  }
}

@Test("Every program of a recipe or a test names the versions of the libraries that it imports by introspection")
func script_imports_haveVersions() throws {
  var found: Set<String> = []
  for script in Script.all {
    let (imported, isVersioned) = try script.imports()
    found.formUnion(imported)
    // The interpreters themselves load these two, so there is no choice.
    for (name, isVersioned) in zip(imported, isVersioned) where name != "GLib" && name != "Gio" {
      #expect(isVersioned, "\(script.file) imports \(name): another machine has another version, too")
    }
  }
  #expect(found.isSuperset(of: ["GLib", "Gdk", "Gio", "Gtk", "GtkLayerShell"]))
}
