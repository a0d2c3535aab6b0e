"""Trains a small model on a stream while the simulation runs, in four worker processes.

    python train_online.py                  # publishes a body that is pulled, and learns from it.
    python train_online.py --lose           # The same, but one worker is killed in the middle of a step.
    python train_online.py --stream atoms   # Learns while `make demo` runs, with the FLEXPATH_RENDEZVOUS it prints.

The model learns from positions alone which atoms are held by the grips (a type other than 1). The body gets longer all
the time, so what is learned at first does not do for ever.

The workers are a work-sharing set: each step goes to one of them. A step is done when the worker has learned from it
and says so. What a worker had when it died goes to another one. Each worker is tested on a step before it learns from
it, and tells its model. The parent averages the models, which is what one does with linear ones.
"""

import argparse
import multiprocessing
import multiprocessing.connection
import os
import time

import numpy
from sklearn.linear_model import SGDClassifier

import flexpath

WORKERS = 4
#: The longest that anybody waits for anybody else, in seconds.
PATIENCE = 60.0


def pulled_body(stream, steps):
    """Publishes what the demonstration's simulation does, as far as the model needs it."""
    random = numpy.random.default_rng(1)
    with flexpath.publish(stream, min_subscribers=1) as out:
        for number in range(steps):
            length = 40.0 + 0.1 * number
            place = random.random((4000, 3)) * (30.0, length, 4.0)
            held = numpy.abs(place[:, 1] / length - 0.5) > 0.45
            with out.step() as s:
                s["domain"] = numpy.array([0, 0, 0, 30, length, 4, 0, 0, 1], dtype="f8")
                s.put("position", place, joined=True)
                s.put("type", numpy.where(held, 2, 1).astype("i4"), joined=True)
            time.sleep(0.05)  # a simulation computes meanwhile


def samples(step):
    """How far from the middle each atom is, of half the body's length, and whether it is held."""
    low, high = step["domain"][1], step["domain"][4]
    along = step["position"][:, 1]  # one column of three crosses
    far = numpy.abs(2.0 * along - low - high) / (high - low)
    return far.reshape(-1, 1), step["type"][:] != 1


def balanced_accuracy(model, features, held):
    guess = model.predict(features)
    kinds = [held == kind for kind in (False, True)]
    return float(numpy.mean([numpy.mean(guess[of] == held[of]) for of in kinds if of.any()]))


def work(stream, dies_at, parent):
    """A worker. It tells the parent what it did with each step, and is killed at the step `dies_at` of its own."""
    parent.send("here")
    # Few atoms are held: each of them counts as much as ten that are not.
    model = SGDClassifier(loss="log_loss", class_weight={False: 1.0, True: 10.0}, random_state=0)
    subscriber = flexpath.subscribe(
        stream,
        variables=["domain", "position", "type"],
        share=flexpath.Share("train", redeliver=True),
        explicit_done=True,
        open_timeout=PATIENCE,
        step_timeout=PATIENCE,
    )
    for count, step in enumerate(subscriber):
        if count == dies_at:
            os.kill(os.getpid(), 9)
        features, held = samples(step)
        accuracy = balanced_accuracy(model, features, held) if count else None
        model.partial_fit(features, held, classes=[False, True])
        parent.send((step.number, step.is_redelivered, accuracy, model.coef_, model.intercept_))
        step.done()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--stream", help="a stream with domain, position and type; without it one is published here")
    arguments.add_argument("--steps", type=int, default=60, help="how many are published here")
    arguments.add_argument("--lose", action="store_true", help="kill a worker in the middle of its third step")
    asked = arguments.parse_args()

    # A process that has streams open is not to be forked: workers are started afresh.
    context = multiprocessing.get_context("spawn")
    stream = asked.stream or f"pulled-{os.getpid()}"
    processes, ears = [], {}
    for worker in range(WORKERS):
        ear, mouth = context.Pipe(duplex=False)
        dies_at = 2 if asked.lose and worker == 0 else None
        processes.append(context.Process(target=work, args=(stream, dies_at, mouth)))
        processes[-1].start()
        mouth.close()
        ears[ear] = worker
    # Processes take a while to start. The stream begins when all are there, so that all have a part in it.
    for ear in ears:
        if not ear.poll(PATIENCE):
            raise SystemExit(f"worker {ears[ear]} did not start within {PATIENCE:g} s")
        ear.recv()
    if not asked.stream:
        processes.append(context.Process(target=pulled_body, args=(stream, asked.steps)))
        processes[-1].start()
    learn(ears)
    for process in processes:
        process.join(PATIENCE)


def learn(ears):
    """Hears what the workers did, until all have ended, and says what came of it."""
    counts, latest, seen, again, accuracies = {}, {}, set(), set(), []
    while ears:
        heard = multiprocessing.connection.wait(list(ears), timeout=PATIENCE)
        if not heard:
            raise SystemExit(f"workers {sorted(ears.values())} said nothing for {PATIENCE:g} s")
        for ear in heard:
            worker = ears[ear]
            try:
                number, redelivered, accuracy, *model = ear.recv()
            except EOFError:
                del ears[ear]
                continue
            counts[worker] = counts.get(worker, 0) + 1
            latest[worker] = model
            seen.add(number)
            again |= {number} if redelivered else set()
            if accuracy is not None:
                accuracies.append(accuracy)
                print(f"step {number}: worker {worker} was right in {accuracy:.1%} of both kinds", flush=True)
    coefficient, intercept = (numpy.mean([model[part] for model in latest.values()], axis=0) for part in (0, 1))
    edge = -(intercept / coefficient[0]).item()
    print(f"{len(seen)} steps, by worker: {', '.join(f'{worker}: {counts[worker]}' for worker in sorted(counts))}")
    print(f"given again: {sorted(again) or 'none'}")
    print(f"right at first {accuracies[0]:.1%}, in the end {numpy.mean(accuracies[-8:]):.1%}")
    print(f"held is what lies beyond {edge:.3f} of half the length")


if __name__ == "__main__":
    main()
