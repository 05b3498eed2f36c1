# Completion of fetch for bash. Load it in ~/.bashrc, or install it as
# /usr/share/bash-completion/completions/fetch:
#
#   source Examples/Fetch/completions/fetch.bash

_fetch() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} option IFS=$'\n'
    COMPREPLY=()
    # The words of --name=VALUE are --name, = and VALUE.
    if [ "$word" = = ]; then
        option=$previous word=
    elif [ "$previous" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    else
        option=$previous
    fi
    case $option in
        -o | --output | -i | --input-file)
            COMPREPLY=($(compgen -f -- "$word"))
            compopt -o filenames 2> /dev/null
            ;;
        -d | --directory)
            COMPREPLY=($(compgen -d -- "$word"))
            compopt -o filenames 2> /dev/null
            ;;
        -j | --jobs | --segments)
            COMPREPLY=($(compgen -W $'1\n2\n4\n8\n16' -- "$word"))
            ;;
        --limit-rate)
            COMPREPLY=($(compgen -W $'100k\n500k\n1M\n5M\n10M' -- "$word"))
            ;;
        --sha256 | -H | --header) ;;
        *)
            if [[ $word == -* ]]; then
                COMPREPLY=($(compgen -W $'-o\n--output\n-d\n--directory\n-i\n--input-file\n-j\n--jobs\n--segments\n--limit-rate
--sha256\n-H\n--header\n--overwrite\n-q\n--quiet\n--json\n-h\n--help' -- "$word"))
            else
                COMPREPLY=($(compgen -W $'http://\nhttps://' -- "$word"))
                compopt -o nospace 2> /dev/null
            fi
            ;;
    esac
}

complete -F _fetch fetch
