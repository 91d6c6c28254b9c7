"""Ten million reports through the commands of docs/rappor.md, each within a gigabyte."""

import csv
import os
import subprocess
import sys
import time

import psutil
import pytest

REPORTS = 10_000_000
GIGABYTE = 1 << 30
PROGRAM = (
    "import argparse, sys; from dpest.rappor.commands import add_commands; "
    "parser = argparse.ArgumentParser(); add_commands(parser.add_subparsers()); "
    "args = parser.parse_args(); sys.exit(args.run(args))"
)
COMMANDS = [
    "params --k 128 --h 2 --m 64 --f 0.5 --p 0.25 --q 0.75 --output params.csv",
    f"simulate --params params.csv --reports {REPORTS} --unique 1000 --seed 1"
    " --truth truth.csv --output values.csv",
    "encode --params params.csv values.csv --output reports.parquet",
    "count --params params.csv reports.parquet --jobs 2 --checkpoint done.json --output counts.csv",
    "candidates --params params.csv words.txt --output map.csv",
    "decode --params params.csv --map map.csv --counts counts.csv --method counts"
    " --output results.csv --metrics metrics.json",
]


def _peak_memory(words, folder):
    """Run a command; the most memory that it and its processes held together."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", PROGRAM, "rappor", *words]
    running = psutil.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    peak = 0
    while running.poll() is None:
        peak = max(peak, _memory(running))
        time.sleep(0.05)
    assert running.returncode == 0, words
    return peak


def _memory(process):
    total = 0
    try:
        for member in [process, *process.children(recursive=True)]:
            total += member.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total


@pytest.mark.slow
def test_ten_million_reports_in_bounded_memory(tmp_path):
    for command in COMMANDS:
        assert _peak_memory(command.split(), tmp_path) < GIGABYTE, command
        if command.startswith("simulate"):
            with open(tmp_path / "truth.csv", newline="") as rows:
                truth = {row["string"]: int(row["count"]) for row in csv.DictReader(rows)}
            (tmp_path / "words.txt").write_text("\n".join(truth))
    with open(tmp_path / "results.csv", newline="") as rows:
        results = {row["string"]: row for row in csv.DictReader(rows)}
    assert sum(truth.values()) == REPORTS
    for string in list(truth)[:30]:
        row = results[string]
        error = float(row["estimate"]) - truth[string]
        assert abs(error) < 6 * float(row["std_error"]), string
