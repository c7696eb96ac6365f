import CoordinatorAPI
import DBus
import DBusValues
import Testing

// Names for code generators, which make identifiers of the names of arguments and properties, and types of signatures.

/// The words that C, C++, Python, Vala and JavaScript do not take as a name.
private let reservedWords = Set(
  """
  _Bool _Complex _Imaginary alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
  class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
  double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept
  not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof
  static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
  virtual void volatile wchar_t while xor xor_eq emit signals slots
  False None True as assert async await def del elif except finally from global import in is lambda nonlocal pass raise with yield
  abstract base construct delegate dynamic ensures errordomain foreach get interface internal lock null out override owned params
  ref sealed set signal throws unlock unowned var weak typeof
  arguments debugger eval function implements instanceof let package super undefined
  """.split(whereSeparator: \.isWhitespace).map(String.init))

/// Names in the functions that sdbus-c++ (`result`, `object`, `proxy`) and Qt (`argumentList`, `reply`) generate for a method.
private let localNames: Set = ["result", "object", "proxy", "argumentList", "reply"]

private func isIdentifier(_ name: String) -> Bool {
  name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil && !reservedWords.contains(name)
}

@Test(arguments: Contract.interfaces.map(\.name))
func argument_name_isAnIdentifierInEveryLanguage(of interface: InterfaceName) throws {
  for member in try #require(Contract.interfaces.first { $0.name == interface }).members {
    let arguments =
      switch member {
      case .method(_, let inputs, let outputs, _, _): inputs + outputs
      case .signal(_, let arguments, _, _): arguments
      case .property: [ArgumentDescription]()
      }
    for argument in arguments { #expect(isIdentifier(argument.name), "\(interface).\(member.name): \(argument.name)") }
    // A generated function has one scope for all its arguments.
    #expect(Set(arguments.map(\.name)).count == arguments.count, "\(interface).\(member.name)")
    if case .method(_, let inputs, _, _, _) = member {
      #expect(localNames.isDisjoint(with: inputs.map(\.name)), "\(interface).\(member.name)")
    }
  }
}

@Test(arguments: Contract.interfaces.map(\.name))
func property_name_isAnIdentifierInEveryLanguage(of interface: InterfaceName) throws {
  for case .property(let name, _, _, _, _, let annotations) in try #require(
    Contract.interfaces.first { $0.name == interface }
  ).members {
    // The name of Qt's getter.
    let getter = annotations.first { $0.name == QtAnnotation.propertyGetter }?.value
    let lowercased = name.text.prefix(1).lowercased() + name.text.dropFirst()
    #expect(isIdentifier(getter ?? lowercased) && isIdentifier(name.text), "\(interface).\(name)")
    // The names of functions of QObject.
    #expect(!["parent", "property", "children"].contains(getter ?? lowercased), "\(interface).\(name)")
  }
}

@Test func argument_type_isKnownToQtOrNamed() {
  /// The types that Qt finds by their signatures.
  func isQts(_ type: ValueType) -> Bool {
    switch type {
    case .array(let element): [.byte, .string, .variant, .objectPath, .signature].contains(element)
    case .dictionary, .structure: false
    default: true
    }
  }
  for interface in Contract.interfaces {
    for member in interface.members {
      let types: [(ValueType, String?)] =
        switch member {
        case .method(_, let inputs, let outputs, _, _): (inputs + outputs).map { ($0.type, $0.qtType) }
        case .signal(_, let arguments, _, _): arguments.map { ($0.type, $0.qtType) }
        case .property(_, let type, _, _, _, let annotations):
          [(type, annotations.first { $0.name == QtAnnotation.type }?.value ?? type.qtName)]
        }
      for (type, name) in types {
        #expect((name == nil) == isQts(type), "\(interface.name).\(member.name): \(type)")
        // The generated code passes the name to macros.
        #expect(name?.contains(",") != true, "\(interface.name).\(member.name): \(name ?? "")")
      }
    }
  }
}
