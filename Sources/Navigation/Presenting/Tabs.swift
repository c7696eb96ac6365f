/// One of the tags that are presented for a selection, whether or not it is the selected one: what a bar of tabs shows.
public struct Tab<Tag: Hashable & Codable>: Identifiable {
  /// The tag that selects it.
  public let tag: Tag
  /// Whether it is selected.
  public let isSelected: Bool
  /// The options with which it is presented when it is selected: its title, its container values, such as a badge.
  public let options: PresentationOptions

  public var id: Tag { tag }
  /// Its title; nil for none.
  public var title: String? { options.title }
  /// Its container values; a key that it does not set has its default.
  public var containerValues: ContainerValues { options.containerValues }
}

extension Presenting {
  /// The tags that this program presents for a selection, in the order in which they were declared.
  ///
  /// In ``observe(isolation:_:)`` it is read again when a tag is declared or ends, when the selection changes, and when state changes from
  /// which a tag makes its options: a badge need not be selected to be seen.
  ///
  ///     observe { bar.tabs = navigator.tabs(of: $model.tab).map { ($0.title, $0.containerValues.badge, $0.isSelected) } }
  public func tabs<Tag: Hashable & Codable>(of selection: Binding<Tag?>) -> [Tab<Tag>] {
    let group = presentationSource.navigator.coordinator.text(of: selection)
    return presentationSource.navigator.declaredTabs.value.compactMap { declared in
      guard declared.group == group, let tag = declared.tag as? Tag else { return nil }
      return Tab(tag: tag, isSelected: selection.wrappedValue == tag, options: declared.options())
    }
  }
}

/// A tag that is presented for a selection.
@MainActor
struct DeclaredTab {
  /// The group of the selection.
  let group: String
  let tag: Any
  let options: @MainActor () -> PresentationOptions
  weak var driver: (any Driver)?
}
