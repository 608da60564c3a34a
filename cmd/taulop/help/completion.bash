# bash completion of taulop; made by taulop completion bash
_taulop() {
    local line=${COMP_LINE:0:COMP_POINT} cur before= word given breaks=${COMP_WORDBREAKS//[^=:]/}
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cur=${words[${#words[@]}-1]}
    # A colon and = end a word for bash: what stands before them is there already.
    [[ -n $breaks && $cur == *[$breaks]* ]] && before=${cur%"${cur##*[$breaks]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r word given; do
        if [[ $word == @ ]]; then
            compopt -o filenames 2>/dev/null
            while read -r word; do
                # With a list before it, bash does not see that the name is a directory.
                [[ $given == *, && -d $word ]] && word+=/ && compopt -o nospace 2>/dev/null
                word=$given$word
                COMPREPLY+=("${word#"$before"}")
            done < <(compgen -f -- "${cur#"$given"}")
        elif [[ -n $word ]]; then
            COMPREPLY+=("${word#"$before"}")
        fi
    done < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -F _taulop taulop
