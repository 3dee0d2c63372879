# Completes the command `kubectl-spread` in bash 3.2 and later:
#   source <(kubectl-spread completion bash)

_kubectl_spread() {
    # bash takes --output=json and web:1 apart at = and :; put them together again.
    local word words=() last=-1 joined=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $last -ge 0 && ( -n $joined || $word == [=:]* ) ]]; then
            words[last]+=$word
        else
            words[++last]=$word
        fi
        if [[ $word == [=:] ]]; then joined=yes; else joined=; fi
    done
    local typed=${words[last]}
    local kept=${typed##*[=:]}
    local before=${typed%"$kept"}

    local line directive=0
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            directive=${line#:}
            continue
        fi
        line=${line%%$'\t'*}
        # What stands before the last = or : is not bash's to replace; a flag's value comes without its flag.
        [[ $before == -* ]] || line=${line#"$before"}
        COMPREPLY+=("$(printf %q "$line")")
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)

    if (( !(directive & 4) && ${#COMPREPLY[@]} == 0 )); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$kept")
    fi
    if (( directive & 2 )); then compopt -o nospace 2>/dev/null; fi
}

complete -F _kubectl_spread kubectl-spread
