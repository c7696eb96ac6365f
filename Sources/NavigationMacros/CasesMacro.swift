#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// Generates the conformances to `HasCases` and `HasBoundCases`: the members within the enum, where its payloads' types are found as the
  /// enum itself finds them, and an empty extension.
  struct CasesMacro: MemberMacro, ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let declaration = declaration.as(EnumDeclSyntax.self) else {
        throw MacroExpansionErrorMessage("@Cases can only be attached to an enum")
      }
      let type = declaration.name.text
      let cases = CaseLine.lines(of: declaration.memberBlock.members, in: type)
      let all = cases.compactMap(\.declared)
      if let name = all.map(\.name).first(where: { !isName($0) }) {
        throw MacroExpansionErrorMessage(
          "“\(name)” cannot be a name on the bus: expected letters, digits and “_”; write the conformance to HasCases by hand"
        )
      }
      if let name = Dictionary(grouping: all, by: \.name).first(where: { $0.value.count > 1 })?.key {
        throw MacroExpansionErrorMessage(
          "several cases are called “\(name)”, which is one member of a binding: give each a name of its own")
      }
      let access = access(of: declaration, in: context)
      func lines(_ line: (Case) -> String) -> String {
        cases.map { $0.text(line) }.joined(separator: "\n")
      }
      let switched =
        cases.isEmpty
        ? "switch binding.wrappedValue {}" : "switch binding.wrappedValue {\n\(lines { $0.boundBranch })\n}"
      return [
        """
        \(raw: access)struct Cases: Sendable {
          \(raw: lines { $0.property(access) })
        }
        """,
        "\(raw: access)static var cases: Cases { Cases() }",
        """
        \(raw: access)enum BoundCase {
          \(raw: lines { $0.boundCase })
        }
        """,
        """
        \(raw: access)static func bound(to binding: Navigation.Binding<\(raw: type)>) -> BoundCase {
          \(raw: switched)
        }
        """,
      ]
    }

    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(EnumDeclSyntax.self), !protocols.isEmpty else { return [] }
      let names = protocols.map { "Navigation.\($0.trimmedDescription.split(separator: ".").last ?? "")" }
      return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: names.joined(separator: ", ")) {}")]
    }
  }

  /// A part of an enum's body: a case, or a line of `#if`.
  private enum CaseLine {
    case declared(Case)
    case condition(String)

    var declared: Case? { if case .declared(let declared) = self { declared } else { nil } }

    func text(_ line: (Case) -> String) -> String {
      switch self {
      case .declared(let declared): line(declared)
      case .condition(let text): text
      }
    }

    /// - Parameter type: the name of the enum, which `Self` stands for.
    static func lines(of members: MemberBlockItemListSyntax, in type: String) -> [CaseLine] {
      members.flatMap { member -> [CaseLine] in
        if let declaration = member.decl.as(EnumCaseDeclSyntax.self) {
          return declaration.elements.map { .declared(Case($0, in: type)) }
        }
        guard let conditions = member.decl.as(IfConfigDeclSyntax.self) else { return [] }
        let clauses = conditions.clauses.flatMap { clause -> [CaseLine] in
          let head = "\(clause.poundKeyword.text) \(clause.condition?.trimmedDescription ?? "")"
          guard case .decls(let members)? = clause.elements else { return [.condition(head)] }
          return [.condition(head)] + lines(of: members, in: type)
        }
        return clauses.contains { $0.declared != nil } ? clauses + [.condition("#endif")] : []
      }
    }
  }

  private struct Case {
    let name: String
    let parameters: [(label: String?, type: String)]
    /// The name of the enum.
    private let type: String

    init(_ element: EnumCaseElementSyntax, in type: String) {
      self.type = type
      name = plainName(element.name)
      parameters = (element.parameterClause?.parameters ?? []).map { parameter in
        let label = parameter.firstName.map(\.text).flatMap { $0 == "_" ? nil : $0 }
        // Within the generated types, `Self` would be these.
        return (label, SelfNames(type).rewrite(parameter.type.trimmed).description)
      }
    }

    /// The payload: `Void`, one value, or a tuple.
    private var payload: String {
      switch parameters.count {
      case 0: "Void"
      case 1: "(\(parameters[0].type))"
      default: "(" + parameters.map { ($0.label.map { "\($0): " } ?? "") + $0.type }.joined(separator: ", ") + ")"
      }
    }

    func property(_ access: String) -> String {
      let values = parameters.indices.map { "value\($0)" }
      let arguments = parameters.enumerated().map { index, parameter in
        (parameter.label.map { "\($0): " } ?? "") + (parameters.count == 1 ? "$0" : "$0.\(index)")
      }
      let embed =
        parameters.isEmpty ? "{ _ in .`\(name)` }" : "{ .`\(name)`(\(arguments.joined(separator: ", "))) }"
      // The compiler warns of a constant that is always `()`.
      let isVoid = parameters.isEmpty || parameters.count == 1 && ["Void", "()"].contains(parameters[0].type)
      let pattern = isVoid ? "" : "(" + values.map { "let \($0)" }.joined(separator: ", ") + ")"
      let extracted = isVoid ? "()" : parameters.count == 1 ? "value0" : "(" + values.joined(separator: ", ") + ")"
      return """
        \(access)let `\(name)` = Navigation.EnumCase<\(type), \(payload)>(generated: "\(name)", \(embed)) {
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

  /// Puts the name of an enum for `Self`.
  private final class SelfNames: SyntaxRewriter {
    private let type: String

    init(_ type: String) {
      self.type = type
      super.init()
    }

    override func visit(_ token: TokenSyntax) -> TokenSyntax {
      token.tokenKind == .keyword(.Self) ? token.with(\.tokenKind, .identifier(type)) : token
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
