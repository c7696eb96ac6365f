import Testing

@testable import PresentationRules

/// The dictionary that notes its changes, so that the record gets each of them once.
@Suite struct NotedDictionaryTests {
  private func taken(from dictionary: inout NotedDictionary<Int, String>) -> [Int: String?] {
    var taken: [Int: String?] = [:]
    for (key, value) in dictionary.takeNoted({ $0 }) {
      #expect(taken.updateValue(value, forKey: key) == nil, "\(key) was handed over before")
    }
    return taken
  }

  @Test("Written entries are handed over once, few or many; removed ones as nil", arguments: [1, 3, 8, 9, 200])
  func entries_written_areTakenOnce(count: Int) {
    var dictionary = NotedDictionary<Int, String>()
    dictionary.isNoting = true
    for _ in 0..<2 {
      for key in 0..<count { dictionary[key] = "first" }
      for key in 0..<count { dictionary.modify(key) { $0 = "second" } }
      _ = dictionary.removeValue(forKey: 0)
      #expect(dictionary.hasNoted)
      let taken = taken(from: &dictionary)
      #expect(taken.count == count)
      #expect(taken[0] == .some(nil))
      #expect((1..<count).allSatisfy { taken[$0] == "second" })
      #expect(!dictionary.hasNoted)
      #expect(self.taken(from: &dictionary).isEmpty)
    }
  }

  @Test("A change of a value that follows from other entries is not noted")
  func entry_derivedChange_isNotTaken() {
    var dictionary = NotedDictionary<Int, String>()
    dictionary[1] = "a"
    dictionary.isNoting = true
    dictionary.modifyDerived(1) { $0 = "b" }
    #expect(!dictionary.hasNoted)
    #expect(dictionary[1] == "b")
  }
}
