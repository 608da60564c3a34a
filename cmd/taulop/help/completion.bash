# bash completion of taulop; made by taulop completion bash
_taulop() {
    local line=${COMP_LINE:0:COMP_POINT} cur before= word
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cur=${words[${#words[@]}-1]}
    # A colon ends a word for bash: what stands before it is there already.
    [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && before=${cur%"${cur##*:}"}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == @ ]]; then
            compopt -o filenames 2>/dev/null
            while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
        elif [[ -n $word ]]; then
            COMPREPLY+=("${word#"$before"}")
        fi
    done < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -F _taulop taulop
