/** Shells that a script can be printed for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that a shell reads at its start: it asks the program itself at each Tab. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion of rollkeeper: source <(rollkeeper completion bash)
__rollkeeper_complete() {
  local line="\${COMP_LINE:0:COMP_POINT}" words answer directive current candidate
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="\${words[\${#words[@]}-1]}"
  answer="$(rollkeeper __complete -- "\${words[@]:1}" 2>/dev/null)" || return
  directive="\${answer##*:}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate="\${candidate%%$'\\t'*}"
    # What stands before the last = is a word of its own to readline.
    [[ "$current" == *=* && "$COMP_WORDBREAKS" == *=* ]] && candidate="\${candidate#"\${current%%=*}="}"
    [[ -n "$candidate" ]] && COMPREPLY+=("$candidate")
  done <<< "$(sed '$d' <<< "$answer")"
  (( directive & 2 )) && compopt -o nospace
  (( directive & 4 )) || compopt -o default
}
complete -F __rollkeeper_complete rollkeeper
`,
  zsh: `#compdef rollkeeper
# zsh completion of rollkeeper: source <(rollkeeper completion zsh), or save it as _rollkeeper in a folder of $fpath
_rollkeeper() {
  local answer directive line
  local -a described plain lines
  answer="$(rollkeeper __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)" || return 1
  lines=("\${(@f)answer}")
  directive="\${lines[-1]#:}"
  lines=("\${(@)lines[1,-2]}")
  for line in "\${lines[@]}"; do
    [[ -z "$line" ]] && continue
    if [[ "$line" == *$'\\t'* ]]; then
      described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      plain+=("$line")
    fi
  done
  local -a how
  (( directive & 2 )) && how=(-S '')
  (( \${#described} )) && _describe -t values 'rollkeeper' described "\${how[@]}"
  (( \${#plain} )) && compadd "\${how[@]}" -- "\${plain[@]}"
  (( directive & 4 )) || _files
}
if [[ "\${funcstack[1]}" == _rollkeeper ]]; then
  _rollkeeper "$@"
else
  compdef _rollkeeper rollkeeper
fi
`,
  fish: `# fish completion of rollkeeper: rollkeeper completion fish | source
function __rollkeeper_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer (rollkeeper __complete -- $words[2..-1] 2>/dev/null)
  or return
  set -l directive (string replace ':' '' -- $answer[-1])
  if test (count $answer) -gt 1
    printf '%s\\n' $answer[1..-2]
  end
  if not contains -- $directive 4 6
    __fish_complete_path (commandline -ct)
  end
end
complete -c rollkeeper -f -a '(__rollkeeper_complete)'
`,
};
