#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// Writes the conformance to `Navigable`.
  struct NavigableMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard let declaration = declaration.as(ClassDeclSyntax.self) else {
        throw MacroExpansionErrorMessage(
          "@Navigable can only be attached to a class; the properties of a structure have names already")
      }
      let names = declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        .filter {
          $0.bindingSpecifier.text == "var" && !$0.modifiers.contains { ["static", "class"].contains($0.name.text) }
        }
        .flatMap(\.bindings).compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text }
      // Others have numbers.
      let lines = names.filter(isName).map { #"\.\#($0): "\#($0)","# }.joined(separator: "\n")
      let table = "[\n\(lines.isEmpty ? ":" : lines)\n]"
      // A generic class cannot store static properties.
      let (kind, value) = declaration.genericParameterClause == nil ? ("let", "= \(table)") : ("var", "{ \(table) }")
      return [
        try ExtensionDeclSyntax(
          """
          extension \(type.trimmed): Navigation.Navigable {
            @MainActor \(raw: access(of: declaration, in: context))static \(raw: kind) memberNames: Navigation.MemberNames<\(type.trimmed)> \(raw: value)
          }
          """)
      ]
    }
  }

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [CasesMacro.self, NavigableMacro.self]
  }
#endif
