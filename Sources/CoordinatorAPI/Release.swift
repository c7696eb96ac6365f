/// The release of navd: daemon, programs and packages have the same version.
public enum Release {
  public static let version = "0.1.0"
}
