import DBusValues

/// Annotations that Qt's D-Bus module and its code generator `qdbusxml2cpp` read.
public enum QtAnnotation {
  /// The type of a property. With `.In0`, `.Out0`, … it is the type of an argument.
  public static let type = "org.qtproject.QtDBus.QtTypeName"
  /// The name of the function that reads a property, if the property's name would hide another function.
  public static let propertyGetter = "org.qtproject.QtDBus.PropertyGetter"
}

extension ValueType {
  /// The name of the type in Qt; nil if Qt finds it by the signature, or has none of its own.
  ///
  /// No name has a comma, since the generated code passes it to macros.
  public var qtName: String? {
    switch self {
    case .dictionary(key: .string, value: .variant): "QVariantMap"
    case .array(.array(.variant)): "QList<QVariantList>"
    case .array(let element): element.qtName.map { "QList<\($0)>" }
    default: nil
    }
  }
}
