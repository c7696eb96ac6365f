extension JSON {
  /// The names of the members of objects that a reader wants; none is empty.
  public struct MemberNames: Sendable {
    /// All names, shorter ones first.
    private var bytes: [UInt8] = []
    /// The offset of the first name of each length, from 0, and at last the end of all names. To compare the few names of one length
    /// takes a tenth of the time of hashing a name.
    private var starts: [Int] = []

    public init(_ names: some Sequence<String>) {
      for name in names.sorted(by: { $0.utf8.count < $1.utf8.count }) {
        while starts.count <= name.utf8.count { starts.append(bytes.count) }
        bytes += name.utf8
      }
      starts.append(bytes.count)
    }

    func contains(_ name: Span<UInt8>) -> Bool {
      guard !name.isEmpty, name.count + 1 < starts.count else { return false }
      let end = starts[name.count + 1]
      var start = starts[name.count]
      while start < end {
        var index = 0
        while index < name.count, bytes[start + index] == name[index] { index += 1 }
        if index == name.count { return true }
        start += name.count
      }
      return false
    }
  }
}

extension JSON.MemberNames: ExpressibleByArrayLiteral {
  public init(arrayLiteral names: String...) { self.init(names) }
}
