#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What publishing 202,612 atoms (id, type, x, v) every 10 steps costs LAMMPS: without a subscriber, and with one that takes
# everything. The numbers are those that the plugin prints. Fails where Flexpath took 1 % of the run's CPU or more.
#
# usage: speed.sh FOLDER     where build.sh builds;  RANKS=4 STEPS=100 unless set
# Exit status: 0 under the limit; 1 over it, or something failed; 77 skipped, with the reason.
set -u
here=$(cd "$(dirname "$0")" && pwd)
"$here/build.sh" "$1" || exit $?
folder=$(cd "$1" && pwd)
export LD_LIBRARY_PATH=$folder/venv/lib FLEXPATH_RENDEZVOUS=$folder/rendezvous OMP_NUM_THREADS=1
export MPIR_CVAR_ENABLE_HEAVY_YIELD=1
rm -rf "$folder/speed" "$FLEXPATH_RENDEZVOUS"
mkdir -p "$folder/speed" "$FLEXPATH_RENDEZVOUS"
cd "$folder/speed" || exit 1

simulate() {
    timeout 900 "$folder/venv/bin/mpiexec" -n "${RANKS:-4}" "$folder/venv/bin/lmp" -log log -screen none \
        -in "$here/test/speed.lmp" -var melt "$here/test/melt.lmp" -var steps "${STEPS:-100}" </dev/null ||
        { tail log; exit 1; }
}
say() {
    printf '%s (%s ranks on %s cores, load %s)\n' "$1" "${RANKS:-4}" "$(nproc --all)" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    grep -E 'Loop time|^Flexpath' log
    keep "$1"
}
# Appends a row to the file that scripts/bench/record.py names.
keep() {
    [ -n "${FLEXPATH_BENCH_ROWS:-}" ] || return 0
    awk -v run="$1" -v ranks="${RANKS:-4}" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" '
        /^Flexpath CPU:/ { cpu = sprintf("\"calls, s\": %s, \"other threads, s\": %s, \"of CPU, %%\": %s, \"CPU, s\": %s", $4, $9, $12, $17) }
        /^Flexpath wall:/ { wall = sprintf(", \"calls, wall, s\": %s, \"of wall, %%\": %s, \"wall, s\": %s", $4, $9, $12) }
        END { if (cpu != "") printf "{\"run\": \"%s\", \"ranks\": %s, \"load\": %s, %s%s}\n", run, ranks, load, cpu, wall }
    ' log >>"$FLEXPATH_BENCH_ROWS"
}
under_limit() { awk '/^Flexpath CPU/ { found = 1; for (i = 1; i < NF; i++) if ($i == "=" && $(i + 2) == "%") { if ($(i + 1) >= 1) bad = 1; break } } END { exit bad || !found }' log; }

failed=0
simulate
say "the plugin is not there"
export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=speed attributes=id,type,x,v"
simulate
say "nobody subscribes"
under_limit || failed=1
export FLEXPATH_LAMMPS="$FLEXPATH_LAMMPS RendezvousReaderCount=1"
timeout 900 "$folder/record" speed none >taken & recorder=$!
simulate
wait $recorder || failed=1
say "a subscriber takes everything"
tail -n 1 taken
under_limit || failed=1
[ $failed -eq 0 ] && echo "PASS: under 1 % of the run's CPU" || echo "FAIL: 1 % of the run's CPU or more"
exit $failed
