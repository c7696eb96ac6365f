#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// Generates the conformances to `HasCases` and `HasBoundCases`.
  struct CasesMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard let declaration = declaration.as(EnumDeclSyntax.self) else {
        throw MacroExpansionErrorMessage("@Cases can only be attached to an enum")
      }
      let cases = declaration.memberBlock.members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }
        .flatMap(\.elements).map(Case.init)
      if let name = cases.map(\.name).first(where: { !isName($0) }) {
        throw MacroExpansionErrorMessage(
          "“\(name)” cannot be a name on the bus: expected letters, digits and “_”; write the conformance to HasCases by hand"
        )
      }
      let access = access(of: declaration, in: context)
      func lines(_ line: (Case) -> String) -> String { cases.map(line).joined(separator: "\n") }
      return [
        try ExtensionDeclSyntax(
          """
          extension \(type.trimmed): Navigation.HasCases, Navigation.HasBoundCases {
            \(raw: access)struct Cases: Sendable {
              \(raw: lines { $0.property(of: "\(type.trimmed)", access) })
            }
            \(raw: access)static var cases: Cases { Cases() }
            \(raw: access)enum BoundCase {
              \(raw: lines(\.boundCase))
            }
            \(raw: access)static func bound(to binding: Navigation.Binding<\(type.trimmed)>) -> BoundCase {
              switch binding.wrappedValue {
              \(raw: lines(\.boundBranch))
              }
            }
          }
          """)
      ]
    }
  }

  private struct Case {
    let name: String
    let parameters: [(label: String?, type: String)]

    init(_ element: EnumCaseElementSyntax) {
      name = plainName(element.name)
      parameters = (element.parameterClause?.parameters ?? []).map { parameter in
        let label = parameter.firstName.map(\.text).flatMap { $0 == "_" ? nil : $0 }
        return (label, parameter.type.trimmedDescription)
      }
    }

    /// The payload: `Void`, one value, or a tuple.
    private var payload: String {
      switch parameters.count {
      case 0: "Void"
      case 1: parameters[0].type
      default: "(" + parameters.map { ($0.label.map { "\($0): " } ?? "") + $0.type }.joined(separator: ", ") + ")"
      }
    }

    func property(of type: String, _ access: String) -> String {
      let values = parameters.indices.map { "value\($0)" }
      let arguments = parameters.enumerated().map { index, parameter in
        (parameter.label.map { "\($0): " } ?? "") + (parameters.count == 1 ? "$0" : "$0.\(index)")
      }
      let embed =
        parameters.isEmpty ? "{ _ in .`\(name)` }" : "{ .`\(name)`(\(arguments.joined(separator: ", "))) }"
      let pattern = parameters.isEmpty ? "" : "(" + values.map { "let \($0)" }.joined(separator: ", ") + ")"
      let extracted = parameters.count == 1 ? "value0" : "(" + values.joined(separator: ", ") + ")"
      return """
        \(access)let `\(name)` = Navigation.EnumCase<\(type), \(payload)>("\(name)", \(embed)) {
          if case .`\(name)`\(pattern) = $0 { \(extracted) } else { nil }
        }
        """
    }

    var boundCase: String {
      parameters.isEmpty ? "case `\(name)`" : "case `\(name)`(Navigation.Binding<\(payload)>)"
    }

    var boundBranch: String {
      parameters.isEmpty
        ? "case .`\(name)`: .`\(name)`" : "case .`\(name)`: .`\(name)`(binding.case(cases.`\(name)`)!)"
    }
  }

  /// The access level of the code generated for a declaration, with a space; empty for `internal`.
  func access(of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) -> String {
    let around = context.lexicalContext.compactMap { $0.asProtocol((any WithModifiersSyntax).self)?.modifiers }
    let levels = ([declaration.modifiers] + around).map { $0.map(\.name.text) }
    if levels.joined().contains(where: { ["private", "fileprivate"].contains($0) }) { return "fileprivate " }
    return levels[0].contains { ["public", "open"].contains($0) }
      ? "public " : levels[0].contains("package") ? "package " : ""
  }

  /// An identifier without backticks.
  func plainName(_ identifier: TokenSyntax) -> String { identifier.text.filter { $0 != "`" } }

  /// Whether a text is a name on the bus (B1).
  func isName(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80
        || (0x30...0x39).contains(byte)
    }
  }
#endif
