#compdef taulop
# zsh completion of taulop; made by taulop completion zsh
_taulop() {
    local -a found
    local line word files= given=
    for line in "${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        word=${line%%$'\t'*}
        if [[ $word == @ ]]; then
            files=1 given=${line#@} given=${given#$'\t'}
        elif [[ -n $word ]]; then
            line=${line#*$'\t'}
            found+=("${word//:/\\:}${line:+:$line}")
        fi
    done
    (( $#found )) && _describe taulop found
    if [[ -n $files ]]; then
        [[ -z $given ]] || compset -p ${#given}
        _files
    fi
}
if [[ $funcstack[1] == _taulop ]]; then # this file is loaded by its first completion
    _taulop
else
    compdef _taulop taulop
fi
