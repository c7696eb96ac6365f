import Navigation

/// A value of transactions that only tests know.
struct Haste: TransactionKey { static let defaultValue = 1 }

extension Transaction {
  var haste: Int {
    get { self[Haste.self] }
    set { self[Haste.self] = newValue }
  }
}
