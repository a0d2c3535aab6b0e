"""Energy's part of the demonstration, in Python: the potential energy of each atom, on average.

It takes positions from all ranks of the simulation, in those steps that are compared. It publishes a stream of its own,
`energy`. Check holds that against what LAMMPS writes into its log. The supervisor starts it; `demo --python` says by
which interpreter.
"""

import argparse
import os
import threading

import numpy
from scipy.spatial import cKDTree

import flexpath

#: Where the potential of the simulation ends, in sigma.
CUTOFF = 2.5


def energy_per_atom(positions, domain):
    """The Lennard-Jones energy of these atoms by their number, in epsilon, and how many pairs it is the sum of.

    `domain` has nine numbers: low corner, high corner, and 1 for each axis along which the space repeats.
    """
    low, high, periodic = domain[:3], domain[3:6], domain[6:] != 0
    extent = numpy.where(periodic, high - low, 0.0)
    places = positions - low
    # Between two sortings an atom may lie a little outside. The remainder of a tiny negative number is the extent.
    places[:, periodic] %= extent[periodic]
    places[:, periodic] = numpy.where(places[:, periodic] >= extent[periodic], 0.0, places[:, periodic])
    # A free axis has no period: for the tree that is a zero.
    pairs = cKDTree(places, boxsize=extent).query_pairs(CUTOFF, output_type="ndarray")
    apart = places[pairs[:, 0]] - places[pairs[:, 1]]
    apart[:, periodic] -= extent[periodic] * numpy.round(apart[:, periodic] / extent[periodic])
    near = 1.0 / numpy.einsum("ij,ij->i", apart, apart) ** 3
    return float(numpy.sum(4.0 * near * (near - 1.0)) / len(positions)), len(pairs)


def end_with_supervisor():
    """Ends this process when its supervisor is gone, who holds the other end of standard input."""

    def listen():
        # Not through sys.stdin, whose lock the interpreter wants when it ends.
        os.read(0, 1)
        os._exit(3)

    threading.Thread(target=listen, daemon=True).start()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--every", type=int, required=True, help="of how many published steps one is taken")
    arguments.add_argument("--max-wait-s", type=float, required=True, help="how long publishers may wait for others")
    arguments.add_argument("--patience-s", type=float, required=True, help="how long it waits for a step")
    arguments.add_argument("--listen", help="the address to be reached by, instead of staying within the machine")
    arguments.add_argument("--token-file", help="the token of the run")
    asked = arguments.parse_args()
    end_with_supervisor()

    link = {"listen": asked.listen, "token_file": asked.token_file}
    link = {name: value for name, value in link.items() if value is not None}
    atoms = flexpath.subscribe(
        "atoms",
        name="energy.atoms",
        variables=["time_step", "domain", "position"],
        policy=flexpath.EveryKth(asked.every, asked.max_wait_s),
        step_timeout=asked.patience_s,
        **link,
    )
    with flexpath.publish("energy", min_subscribers=1, **link) as out:
        for step in atoms:
            energy, pairs = energy_per_atom(step["position"][...], step["domain"][...])
            time_step = int(step["time_step"])
            step.release()
            with out.step() as s:
                s["time_step"] = numpy.int64(time_step)
                s["pairs"] = numpy.int64(pairs)
                s.put("energy", numpy.float64(energy), unit="epsilon")


if __name__ == "__main__":
    main()
