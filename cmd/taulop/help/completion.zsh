#compdef taulop
# zsh completion of taulop; made by taulop completion zsh
_taulop() {
    local -a found
    local line word files=
    for line in "${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        word=${line%%$'\t'*}
        if [[ $word == @ ]]; then
            files=1
        elif [[ -n $word ]]; then
            found+=("${word//:/\\:}:${line#*$'\t'}")
        fi
    done
    (( $#found )) && _describe taulop found
    [[ -n $files ]] && _files
}
compdef _taulop taulop
