#!/usr/bin/env python3
"""The classifier example learns, at 1, 2 and 4 ranks alike, and says clearly why when it cannot.

usage: fashion_test.py HCOMM FASHION     (the launcher, and the example)
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
LEAST_ACCURACY = 0.86
MOST_DIFFERENCE = 0.005
MOST_SECONDS = 120


def run(command, timeout=MOST_SECONDS):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)


def train(hcomm, fashion, ranks, folder):
    """The outcome as JSON, after checks of what the ranks printed."""
    outcome = folder / f"{ranks}.json"
    done = run([hcomm, "run", "-n", ranks, "--", fashion, "--json", outcome])
    print(done.stdout, done.stderr, sep="", flush=True)
    assert done.returncode == 0, f"{ranks} ranks: exit status {done.returncode}"
    assert "weights identical on all ranks: yes" in done.stdout, f"{ranks} ranks: the weights differ"
    report = json.loads(outcome.read_text())
    assert report["ranks"] == ranks and report["weights_identical"] is True, report
    assert report["accuracy"] >= LEAST_ACCURACY, f"{ranks} ranks: accuracy {report['accuracy']}"
    assert report["seconds"] < MOST_SECONDS, f"{ranks} ranks: {report['seconds']} s"
    losses = [epoch["loss"] for epoch in report["epochs"]]
    assert losses == sorted(losses, reverse=True), f"{ranks} ranks: the loss does not fall: {losses}"
    assert all(0 <= epoch["communication_share"] <= 1 for epoch in report["epochs"]), report
    return report


def check_learning(hcomm, fashion, folder):
    accuracies = {ranks: train(hcomm, fashion, ranks, folder)["accuracy"] for ranks in (1, 2, 4)}
    difference = max(accuracies.values()) - min(accuracies.values())
    assert difference <= MOST_DIFFERENCE, f"the number of ranks changes what is learned: {accuracies}"


def expect_failure(command, status, *texts):
    done = run(command)
    assert done.returncode == status, f"{command}: exit status {done.returncode}, not {status}: {done.stderr}"
    for text in texts:
        assert text in done.stderr, f"{command}: '{text}' is not in: {done.stderr}"


def check_refusals(fashion, folder):
    expect_failure([fashion, "--epochs", "0"], 2, "--epochs", "usage:")
    expect_failure([fashion, "--single", "--data", folder / "nowhere"], 1, "train-images-idx3-ubyte.gz", "cannot be read")
    expect_failure([fashion], 1, "hcomm run -n 4 -- fashion", "--single")

    for name, change, text in (
        ("train-images-idx3-ubyte.gz", lambda data: data[:1000000], "is truncated"),
        ("train-labels-idx1-ubyte.gz", lambda data: data[:-5], "is truncated"),
        ("t10k-labels-idx1-ubyte.gz", lambda data: data[:-6] + bytes(2) + data[-4:], "is damaged"),
        ("t10k-labels-idx1-ubyte.gz", lambda data: data + b"more", "is longer"),
        ("t10k-labels-idx1-ubyte.gz", lambda data: b"", "is truncated"),
    ):
        copy = folder / "copy"
        shutil.copytree(DATA, copy)
        (copy / name).unlink()
        (copy / name).write_bytes(change((DATA / name).read_bytes()))
        expect_failure([fashion, "--single", "--data", copy], 1, name, text)
        shutil.rmtree(copy)

    labels = DATA / "t10k-labels-idx1-ubyte.gz"
    copy = folder / "copy"
    shutil.copytree(DATA, copy)
    (copy / "train-labels-idx1-ubyte.gz").unlink()
    shutil.copy(labels, copy / "train-labels-idx1-ubyte.gz")
    expect_failure([fashion, "--single", "--data", copy], 1, "10000 labels for 60000 pictures")


def main():
    hcomm, fashion = (pathlib.Path(word) for word in sys.argv[1:3])
    if not (DATA / "train-images-idx3-ubyte.gz").exists():
        print(f"skipped: {DATA} is not there; Debian's package dataset-fashion-mnist brings it")
        return 77
    with tempfile.TemporaryDirectory() as name:
        check_refusals(fashion, pathlib.Path(name))
        check_learning(hcomm, fashion, pathlib.Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
