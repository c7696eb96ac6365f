import TextFormats

/// The scripts by which shells complete navctl's command line.
enum CompletionScript {
  static let option = "--generate-completion-script"

  /// The script that ArgumentParser generates, and the verbs after `navctl help`, for which it offers nothing.
  static func completed(_ script: String) -> String {
    let verbs = Verbs.groups.flatMap(\.verbs).map(\.name).joined(separator: " ")
    guard script.parted(at: "_navctl_help()") != nil else {
      let position = "__navctl_should_offer_completions_for_positional \"navctl help\" -eq 1"
      return script + "complete -c 'navctl' -n '\(position)' -fka '\(verbs)'\n"
    }
    return script.replacingAll("'*:subcommands:'", with: "'1:verb:(\(verbs))'")
      .replacingAll(
        "_navctl_help() {\n    repeating",
        with: "_navctl_help() {\n    COMPREPLY+=($(compgen -W '\(verbs)' -- \"${cur}\"))\n    repeating")
  }
}
