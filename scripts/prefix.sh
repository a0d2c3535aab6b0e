# Read by the scripts that install the library and the command: where they install to.
# shellcheck shell=sh

# absolute NAME FOLDER: the folder as an absolute path; 2, with the reason, where it cannot be told. Some shells leave ~
# as it is where a word does not begin with it, as in `make install PREFIX=~/.local`.
absolute() {
    # shellcheck disable=SC2088 # the very character
    case $2 in
    "") echo "$1 is empty: name a folder, as in $1=\$HOME/.local" >&2 && return 2 ;;
    "~" | "~/"*)
        [ -n "${HOME:-}" ] || { echo "$1=$2: HOME is not set; name the folder in full" >&2 && return 2; }
        printf '%s\n' "$HOME${2#"~"}"
        ;;
    "~"*) echo "$1=$2: folders of other users are not looked up; name it in full" >&2 && return 2 ;;
    /*) printf '%s\n' "$2" ;;
    *) printf '%s\n' "$(pwd)/${2#./}" ;;
    esac
}
