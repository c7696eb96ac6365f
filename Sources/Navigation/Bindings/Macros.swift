#if Macros
  /// Makes the cases of an enum members of its bindings, and gives a `switch` bindings of the payloads; see ``HasCases`` and
  /// ``HasBoundCases``.
  ///
  ///     @MainActor @Observable @Navigable
  ///     final class Inventory {
  ///       struct Item: Codable, Identifiable { var id: Int }
  ///
  ///       @Cases
  ///       enum Destination { case edit(Item), help }
  ///
  ///       var destination: Destination?
  ///     }
  ///
  ///     navigator.present(item: $inventory.destination.edit) { item in ItemScreen(item) }
  @attached(
    member, conformances: HasCases, HasBoundCases, names: named(Cases), named(cases), named(BoundCase), named(bound))
  @attached(extension, conformances: HasCases, HasBoundCases)
  public macro Cases() = #externalMacro(module: "NavigationMacros", type: "CasesMacro")

  /// Names the properties of a class on the bus; see ``Navigable``. A subclass with this macro names the properties that it adds;
  /// inherited properties have numbers in its bindings.
  @attached(member, conformances: Navigable, names: named(memberNames))
  @attached(extension, conformances: Navigable)
  public macro Navigable() = #externalMacro(module: "NavigationMacros", type: "NavigableMacro")
#endif
