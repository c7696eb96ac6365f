/// One of the tags that are presented for a selection, selected or not, as in a tab bar.
///
///     for tab in navigator.tabs(of: $model.tab) {
///       print(tab.title ?? "\(tab.tag)", tab.isSelected, tab.containerValues.badge, tab.options.style ?? "")
///     }
public struct TabState<Tag: Hashable & Codable>: Identifiable {
  /// The tag that selects the tab.
  public let tag: Tag
  /// Whether the tab is selected.
  public let isSelected: Bool
  /// The options with which the tab is presented when selected, such as its title and container values, for example a badge.
  public let options: PresentationOptions

  public var id: Tag { tag }
  /// The title; nil for none.
  public var title: String? { options.title }
  /// The container values; an unset key has its default.
  public var containerValues: ContainerValues { options.containerValues }
}

extension Presenting {
  /// The tags that this program presents for a selection, in the order in which they were declared.
  ///
  /// In ``observe(isolation:_:)`` the tags are read again when a tag is declared or ends, when the selection changes, and when the
  /// state behind a tag's options changes: the badge of a tag that is not selected is visible, too.
  ///
  ///     observe { bar.tabs = navigator.tabs(of: $model.tab).map { ($0.title, $0.containerValues.badge, $0.isSelected) } }
  public func tabs<Tag: Hashable & Codable>(of selection: Binding<Tag?>) -> [TabState<Tag>] {
    let group = presentationSource.navigator.coordinator.text(of: selection)
    return presentationSource.navigator.declaredTabs.value.compactMap { declared in
      guard declared.group == group, let tag = declared.tag as? Tag else { return nil }
      return TabState(tag: tag, isSelected: selection.wrappedValue == tag, options: declared.options())
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
