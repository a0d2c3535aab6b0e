# Read by the scripts that install what is missing, after they have defined `say`: packages of Debian and Ubuntu by apt.
# shellcheck shell=sh

has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or by sudo where that asks for no password. 3 where neither is possible.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 3
    fi
}

# Installs packages by apt, or says what to install.
install_packages() {
    if ! has apt-get; then
        say "missing: $* (by their names on Debian; this machine has no apt-get). Install them and run this again"
        exit 3
    fi
    if ! as_root true; then
        say "missing, and this user is not root: $*. Ask for:"
        say "    sudo apt-get update && sudo apt-get install --no-install-recommends $*"
        exit 3
    fi
    say "installing with apt-get: $*"
    as_root apt-get update -q >/dev/null 2>&1 || say "apt-get update failed: going on with the package lists at hand"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" || {
        say "apt-get could not install: $*"
        exit 1
    }
}
