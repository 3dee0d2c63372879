# Completes the command `kubectl-spread` in fish:
#   kubectl-spread completion fish > ~/.config/fish/completions/kubectl-spread.fish

function __kubectl_spread_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    # A flag's value comes without its flag, and fish replaces both.
    set -l flag (string match -r -- '^--[^=]+=' $typed)
    set -l directive 0
    set -l found
    for line in ($words[1] __complete $words[2..] "$typed" 2>/dev/null)
        if string match -qr '^:' -- $line
            set directive (string sub -s 2 -- $line)
        else
            set -a found $line
        end
    end
    if test -z "$found"; and test $directive = 0
        set found (__fish_complete_path (string replace -r -- '^--[^=]+=' '' $typed))
    end
    for line in $found
        printf '%s%s\n' "$flag" $line
    end
end

complete -c kubectl-spread -f -k -a '(__kubectl_spread_complete)'
