import DBusValues

/// The objects of groups, stacks and holds on the bus.
public enum ContainerObjects {
  /// The parents of the objects of groups, stacks and holds.
  public static let groups: ObjectPath = "/org/navd/Coordinator1/group"
  public static let stacks: ObjectPath = "/org/navd/Coordinator1/stack"
  public static let holds: ObjectPath = "/org/navd/Coordinator1/hold"

  /// The sentences that are in the documentation of each of these interfaces.
  static let doc = """
    In its path, each byte of the name that is no letter or digit, and a digit at the beginning, is “_” with two hexadecimal \
    digits (sd_bus_path_encode).
    """
}
