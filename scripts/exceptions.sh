# Read by scripts that run parts: what scripts/exceptions.txt says of a part.
# shellcheck shell=sh

exceptions=$(cd "$(dirname "$0")/.." && pwd)/scripts/exceptions.txt
# Somebody else's list, to try this out.
exceptions=${FLEXPATH_EXCEPTIONS:-$exceptions}

# exception PART: prints the reason for which it may be skipped; fails where there is none.
exception() { sed -n "s/^$1: *//p" "$exceptions" | grep .; }

# excepted_parts: the names that stand in the list.
excepted_parts() { sed -n 's/^\([^#: ][^: ]*\): .*/\1/p' "$exceptions"; }
