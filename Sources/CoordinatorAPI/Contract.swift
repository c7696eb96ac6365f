import DBus

/// The interfaces of the contract, in the order of the documentation.
public enum Contract {
  public static let interfaces = [
    CoordinatorInterface.interface, PresentationInterface.interface, GroupInterface.interface,
    StackInterface.interface, HoldInterface.interface, PresenterInterface.interface, WindowSystemInterface.interface,
  ]
}
