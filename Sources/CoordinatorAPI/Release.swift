// Why this file exists: daemon, command line and packaging tell one version.

/// Of navd as a whole.
public enum Release {
  public static let version = "0.1.0"
}
