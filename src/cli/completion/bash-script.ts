// The script that bash loads to complete commands. It asks the program, and runs nothing else: words that are typed and
// candidates are never evaluated. Needs no other package, and no newer bash than 3.2 (without `compopt` it may offer files
// where there are none).

export function bashScript(program: string): string {
  const name = `__${program.replaceAll('-', '_')}_complete`;
  return script.replaceAll('PROGRAM', program).replaceAll('FUNCTION', name);
}

const script = String.raw`# bash completion for PROGRAM

FUNCTION() {
    local at word last answer directive line
    local -a words
    # Bash takes = : and @ for the ends of words; here they belong to flags, contexts and paths.
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${'$'}{COMP_WORDS[at]}
        if [[ ${'$'}{#words[@]} -gt 0 && ( $word == [=:@]* || $last == *[=:@] ) ]]; then
            words[${'$'}{#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        last=$word
    done
    last=${'$'}{words[${'$'}{#words[@]} - 1]}

    answer=$(PROGRAM complete -- "${'$'}{words[@]}" 2>/dev/null </dev/null) || return
    directive=${'$'}{answer##*:}

    # The program completes the value of --flag=value; bash replaces what follows the last end of a word, which is $2.
    [[ $last == --*=* ]] && last=${'$'}{last#*=}
    local kept=${'$'}{last%"$2"}
    COMPREPLY=()
    while IFS= read -r line; do
        line=${'$'}{line%%${'$'}'\t'*}
        [[ -n $line ]] && COMPREPLY+=("${'$'}{line#"$kept"}")
    done <<<"${'$'}{answer%:*}"

    ((directive & 2)) && compopt -o nospace 2>/dev/null
    ((directive & 4)) && compopt +o default 2>/dev/null
    ((directive & 32)) && compopt -o nosort 2>/dev/null
    return 0
}

complete -o default -F FUNCTION PROGRAM
`;
