import TextFormats

/// The scripts by which shells complete navctl's command line.
enum CompletionScript {
  static let option = "--generate-completion-script"

  /// The script that ArgumentParser generates, with two additions: the verbs after `navctl help`, and in bash, names that are not files.
  static func completed(_ script: String) -> String {
    let verbs = Verbs.groups.flatMap(\.verbs).map(\.name).joined(separator: " ")
    guard script.parted(at: "_navctl_help()") != nil else {
      let position = "__navctl_should_offer_completions_for_positional \"navctl help\" -eq 1"
      return script + "complete -c 'navctl' -n '\(position)' -fka '\(verbs)'\n"
    }
    return namingFilesOnly(script).replacingAll("'*:subcommands:'", with: "'1:verb:(\(verbs))'")
      .replacingAll(
        "_navctl_help() {\n    repeating",
        with: "_navctl_help() {\n    COMPREPLY+=($(compgen -W '\(verbs)' -- \"${cur}\"))\n    repeating")
  }

  /// Stops bash from adding “/” to the name of a destination if there is such a directory: ArgumentParser declares every completion a
  /// file. But bash quotes only files. So names with characters that bash would expand stay files.
  private static func namingFilesOnly(_ script: String) -> String {
    script.replacingAll("complete -o filenames -F", with: "complete -F")
      .replacingAll(
        "_add_completions() {\n    local completion\n",
        with: """
          _add_completions() {
              local completion
              [[ "${1}" = -W ]] || compopt -o filenames

          """
      )
      .replacingAll(
        "        COMPREPLY+=(\"${completion}\")\n",
        with: """
                  COMPREPLY+=("${completion}")
                  [[ "${completion}" != *[^[:alnum:]_.,:@%+=/-]* ]] || compopt -o filenames

          """)
  }
}
