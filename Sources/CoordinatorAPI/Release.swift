/// The release of navd. The daemon, the programs and the packages have the same version.
public enum Release {
  public static let version = "0.2.0"
  /// The date of the release, for manual pages, which are the same in each build. It is also in debian/changelog.
  public static let date = "2026-11-27"
}
