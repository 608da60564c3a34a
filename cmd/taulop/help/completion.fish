# fish completion of taulop; made by taulop completion fish
function __taulop_words
    set -l word (commandline -ct)
    taulop completion words -- (commandline -opc)[2..-1] "$word" 2>/dev/null
end
function __taulop_candidates
    set -l word (commandline -ct)
    for line in (__taulop_words)
        set -l given (string replace -r '^@\t?' '' -- $line)
        if test "$given" = "$line"
            echo $line
        else if test -n "$given" # a file name behind = or a comma
            set -l name (string sub -s (math (string length -- $given) + 1) -- "$word")
            set -l found $name*
            for file in $found
                test -d $file; and set file $file/
                echo $given$file
            end
        end
    end
end
complete -c taulop -f -a '(__taulop_candidates)'
complete -c taulop -n '__taulop_words | string match -q @' -F
