/// The candidate of which `name` is most likely a misspelling; nil if more than a third of the letters differ.
package func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
  let letters = Array(name.lowercased().unicodeScalars)
  // Names may come from clients, and the edit distance of long names takes too long.
  guard letters.count <= 64 else { return nil }
  let maxDistance = max(1, letters.count / 3)
  return
    candidates
    .map { (name: $0, distance: editDistance(letters, Array($0.lowercased().unicodeScalars))) }
    .filter { $0.distance <= maxDistance }
    .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
}

/// The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment distance).
private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
  var before: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var distance = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { distance = min(distance, before[j - 1] + 1) }
      row.append(distance)
    }
    (before, last) = (last, row)
  }
  return last[b.count]
}
