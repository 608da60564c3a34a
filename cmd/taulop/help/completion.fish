# fish completion of taulop; made by taulop completion fish
function __taulop_words
    set -l word (commandline -ct)
    taulop completion words -- (commandline -opc)[2..-1] "$word" 2>/dev/null
end
complete -c taulop -f -a '(__taulop_words | string match -v @)'
complete -c taulop -n '__taulop_words | string match -q @' -F
