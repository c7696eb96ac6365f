/// The release of navd: daemon, programs and packages have the same version.
public enum Release {
  public static let version = "0.2.0"
  /// When it was made, for manual pages, which are the same in each build; as in debian/changelog.
  public static let date = "2026-11-27"
}
