import DBusValues
import PresentationModel

/// Names one presentation: one showing of one item, from the request until it has ended (docs/semantics.md, *Words*).
public typealias PresentationHandle = Handle
