#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// Generates the conformance to `Navigable`: the table of names in the class, where a subclass can override it, and an empty extension.
  struct NavigableMacro: MemberMacro, ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let declaration = declaration.as(ClassDeclSyntax.self) else {
        throw MacroExpansionErrorMessage(
          "@Navigable can only be attached to a class; the properties of a structure have names already")
      }
      guard declaration.attributes.contains(where: isObservable) else {
        throw MacroExpansionErrorMessage(
          "@Navigable needs @Observable before the class, too: without it, nobody is told of a change, and nothing is shown"
        )
      }
      let (access, type) = (access(of: declaration, in: context), selfType(declaration))
      let names: DeclSyntax = "\(raw: table(of: declaration, type))"
      // The compiler requests no conformance for a subclass that has inherited one.
      if protocols.isEmpty, let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmed {
        return [
          """
          @MainActor \(raw: access)override class var memberNames: Navigation.MemberNames<NamedModel> {
            \(superclass).memberNames.adding(\(names) as Navigation.MemberNames<\(raw: type)>)
          }
          """
        ]
      }
      let kind = declaration.modifiers.contains { $0.name.text == "final" } ? "static" : "class"
      return [
        "@MainActor \(raw: access)\(raw: kind) var memberNames: Navigation.MemberNames<\(raw: type)> { \(names) }"
      ]
    }

    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      protocols.isEmpty || !declaration.is(ClassDeclSyntax.self)
        ? [] : [try ExtensionDeclSyntax("extension \(type.trimmed): Navigation.Navigable {}")]
    }

    private static func isObservable(_ attribute: AttributeListSyntax.Element) -> Bool {
      attribute.as(AttributeSyntax.self)?.attributeName.trimmedDescription.split(separator: ".").last == "Observable"
    }

    /// The names of the stored and computed properties. A name that is invalid on the bus is left out, so its property has a number.
    private static func table(of declaration: ClassDeclSyntax, _ type: String) -> String {
      let names = declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        .filter {
          $0.bindingSpecifier.text == "var" && !$0.modifiers.contains { ["static", "class"].contains($0.name.text) }
        }
        .flatMap(\.bindings).compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier }.map(plainName)
      let entries = names.filter(isName).map { #"\\#(type).`\#($0)`: "\#($0)""# }
      return entries.isEmpty ? "[:]" : "[\(entries.joined(separator: ", "))]"
    }

    /// The class's name as its members can use it.
    private static func selfType(_ declaration: ClassDeclSyntax) -> String {
      let parameters = declaration.genericParameterClause?.parameters.map(\.name.text) ?? []
      return declaration.name.text + (parameters.isEmpty ? "" : "<\(parameters.joined(separator: ", "))>")
    }
  }

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [CasesMacro.self, NavigableMacro.self]
  }
#endif
