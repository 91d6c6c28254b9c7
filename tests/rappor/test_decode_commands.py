"""The analysing commands, with files as google/rappor has them."""

import argparse
import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from dpest.rappor.commands import add_commands

PARAMS = "k,h,m,p,q,f\n16,2,8,0.25,0.75,0.0\n"


def rappor(*arguments):
    """Run `rappor ...` in this process."""
    parser = argparse.ArgumentParser("dpest")
    add_commands(parser.add_subparsers(required=True))
    args = parser.parse_args(["rappor", *map(str, arguments)])
    return args.run(args)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Parameters, a map, reports and counts of 40 strings of which 8 occur."""
    folder = tmp_path_factory.mktemp("rappor")
    (folder / "params.csv").write_text(PARAMS)
    (folder / "words.txt").write_text("".join(f"v{i}\n" for i in range(1, 41)))
    params = ("--params", folder / "params.csv")
    rappor("candidates", folder / "words.txt", *params, "-o", folder / "map.csv")
    rappor(
        "simulate", *params, "--unique", 40, "--active", 8, "--reports", 8000, "--seed", 1,
        "--write", "reports", "-o", folder / "reports.csv",
    )  # fmt: skip
    rappor("count", *params, folder / "reports.csv", "-o", folder / "counts.csv", "--jobs", 1)
    return folder


def decoding(files, *more):
    """Decode and return the exit code."""
    return rappor("decode", "--params", files / "params.csv", "--map", files / "map.csv", *more)


@pytest.mark.parametrize("method", ["seed", "counts", "reports", "auto"])
def test_decode_writes_results_and_metrics(files, tmp_path, method):
    results, metrics = tmp_path / "results.csv", tmp_path / "metrics.json"
    code = decoding(
        files, "--counts", files / "counts.csv", "--reports", files / "reports.csv",
        "--method", method, "--output", results, "--metrics", metrics,
    )  # fmt: skip
    rows = list(csv.DictReader(results.open()))
    assert code == 0
    assert rows[0]["string"] == "v1"
    assert json.loads(metrics.read_text())["num_detected"] == len(rows)
    assert json.loads(metrics.read_text())["sample_size"] == 8000


@pytest.mark.parametrize("source", ["counts", "reports"])
def test_decode_writes_a_page(files, tmp_path, source):
    target = tmp_path / "found.html"
    assert not decoding(files, f"--{source}", files / f"{source}.csv", "--html", target)
    text = target.read_text()
    assert text.startswith("<!doctype html>")
    assert 'id="life"' in text


def test_reports_are_counted_if_only_counts_are_needed(files, tmp_path):
    for name, more in (
        ("a", ("--counts", files / "counts.csv")),
        ("b", ("--reports", files / "reports.csv")),
    ):
        decoding(files, *more, "--method", "counts", "--output", tmp_path / name)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_everything_can_be_written(files, tmp_path, capsys):
    decoding(files, "--counts", files / "counts.csv", "--all", "--output", tmp_path / "all.csv")
    decoding(files, "--counts", files / "counts.csv", "--output", tmp_path / "all.json")
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 42
    assert len(json.loads((tmp_path / "all.json").read_text())["rows"]) == 40
    decoding(files, "--counts", files / "counts.csv")
    assert "candidates found in 8,000 reports" in capsys.readouterr().out


def test_the_truth_of_a_simulation_is_compared(files, tmp_path, capsys):
    (tmp_path / "truth.csv").write_text("string,count\nv1,3\nnobody,1\n")
    metrics = tmp_path / "metrics.json"
    counts = ("--counts", files / "counts.csv", "--metrics", metrics)
    assert decoding(files, *counts, "--truth", tmp_path / "truth.csv") == 0
    assert "recall 50.0%" in capsys.readouterr().out
    assert json.loads(metrics.read_text())["truth"]["missed"] == ["nobody"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "give --counts FILE or --reports FILE"),
        (("--counts", "nowhere.csv"), "cannot read the counts"),
        (("--counts", "{}/counts.csv", "--alpha", "2"), "alpha=2.0"),
        (("--counts", "{}/counts.csv", "--method", "reports"), "needs the reports"),
        (("--counts", "{}/counts.csv", "--reports-per-client", "0"), "reports_per_client=0"),
        (("--reports", "{}/counts.csv"), "client,cohort"),
    ],
)
def test_decode_refuses_in_a_sentence(files, more, words):
    with pytest.raises(ValueError, match=words):
        decoding(files, *(part.format(files) for part in more))


def test_assoc(files, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "flag.csv").write_text("k,h,m,p,q,f\n1,1,1,0.25,0.75,0\n")
    bits = [row["irr"] for row in csv.DictReader((files / "reports.csv").open())]
    cohorts = [row["cohort"] for row in csv.DictReader((files / "reports.csv").open())]
    with (tmp_path / "pairs.csv").open("w") as out:
        out.write("client,cohort,word,flag\n")
        for i, (cohort, word) in enumerate(zip(cohorts, bits, strict=True)):
            out.write(f"{i},{cohort},{word},{int(rng.random() < 0.4)}\n")
    variables = (
        "--var", "word", files / "params.csv", files / "map.csv",
        "--var", "flag", tmp_path / "flag.csv", "boolean",
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"line \d+: cohort \d is not between 0 and 0"):
        rappor("assoc", "--reports", tmp_path / "pairs.csv", *variables)
    (tmp_path / "flag.csv").write_text("k,h,m,p,q,f\n1,1,8,0.25,0.75,0\n")
    metrics = tmp_path / "m.json"
    output = ("--output", tmp_path / "a.csv", "--metrics", metrics)
    assert rappor("assoc", "--reports", tmp_path / "pairs.csv", *variables, *output) == 0
    assert (tmp_path / "a.csv").read_text().startswith("word,flag,proportion")
    assert json.loads(metrics.read_text())["p_value"] > 0.001


def test_columns_name_the_bad_line(files, tmp_path):
    (tmp_path / "bad.csv").write_text("client,cohort,a,b\n1,0,01,1\n2,0,012,1\n")
    two = ("--var", "a", files / "params.csv", files / "map.csv")
    two += ("--var", "b", files / "params.csv", files / "map.csv")
    with pytest.raises(ValueError, match="line 2: a='01' is not k=16 bits"):
        rappor("assoc", "--reports", tmp_path / "bad.csv", *two)
    (tmp_path / "bad.csv").write_text("client,cohort,a\n1,0,01\n")
    with pytest.raises(ValueError, match="no column 'b'"):
        rappor("assoc", "--reports", tmp_path / "bad.csv", *two)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("2,0,{0},{0},1", "line 4: it has more or fewer fields"),
        ("2,0,{0}", "line 4: it has more or fewer fields"),
        ("2,8,{0},{0}", "line 4: cohort 8 is not between 0 and 7"),
        ("2,99999999999999999999,{0},{0}", "line 4: cohort='99999999999999999999' is not a whole"),
        ("2,0,{0},{0}2", "line 4: b='00000000000000002' is not k=16 bits"),
    ],
)
def test_a_row_that_does_not_fit_is_named_by_its_line(files, tmp_path, line, told):
    """The blank line before it counts."""
    zeros = "0" * 16
    rows = ["client,cohort,a,b", f"1,0,{zeros},{zeros}", "", line.format(zeros)]
    (tmp_path / "bad.csv").write_text("\n".join(rows) + "\n")
    two = ("--var", "a", files / "params.csv", files / "map.csv")
    two += ("--var", "b", files / "params.csv", files / "map.csv")
    with pytest.raises(ValueError, match=told):
        rappor("assoc", "--reports", tmp_path / "bad.csv", *two)


def test_privacy_tells_worst_pairs(files, capsys):
    given = ("--params", files / "params.csv", "--map", files / "map.csv")
    rappor("privacy", *given, "--pair", "v1", "v2")
    text = capsys.readouterr().out
    assert "all reports ever   infinite" in text
    assert "'v1' and 'v2' differ in" in text
    rappor("privacy", *given, "--pair", "v1", "v2", "--audit", "--json")
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert pair["audited"] == pytest.approx(pair["epsilon"])
    rappor("privacy", *given, "--json")
    assert json.loads(capsys.readouterr().out)["worst_pair"]["1"]["distance"] == 4
    with pytest.raises(ValueError, match="give --pair A B"):
        rappor("privacy", *given, "--audit")
    with pytest.raises(ValueError, match="give --map"):
        rappor("privacy", "--params", files / "params.csv", "--pair", "v1", "v2")


def test_advise_prints_and_writes_parameters(tmp_path, capsys):
    best = tmp_path / "best.csv"
    rappor("advise", "--epsilon", 2, "--reports", "1e6", "--detect", 0.01, "--output", best)
    assert "published, h=1" in capsys.readouterr().out
    assert best.read_text().startswith("k,h,m,p,q,f")
    rappor("advise", "--epsilon", 2, "--reports", "1e6", "--detect", 0.01, "--json")
    assert json.loads(capsys.readouterr().out)["best"]["eps_infinity"] == "inf"


def test_studies_print_and_write(tmp_path, capsys):
    plot, out = tmp_path / "n.png", tmp_path / "n.csv"
    rappor("study", "normal", "--sizes", "1e4", "--plot", plot, "--output", out)
    assert "10,000" in capsys.readouterr().out
    assert plot.stat().st_size > 1000
    assert len(out.read_text().splitlines()) == 51
    rappor("study", "precision-recall", "--h", 1, "--runs", 1)
    assert "seed: LASSO" in capsys.readouterr().out
    with pytest.raises(ValueError, match="whole numbers"):
        rappor("study", "normal", "--sizes", "0.5")


def test_building_the_parser_imports_nothing_heavy():
    script = (
        "import sys, argparse; from dpest.rappor.commands import add_commands;"
        "add_commands(argparse.ArgumentParser().add_subparsers());"
        "print([m for m in ('scipy', 'sklearn', 'matplotlib', 'duckdb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_table_keeps_a_string_on_one_line(tmp_path, capsys):
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n4,1,1,0.1,0.9,0.0\n")
    (tmp_path / "map.csv").write_text('"a\n\x1b[31mb",1\n日本,2\n')
    (tmp_path / "counts.csv").write_text("3000,1500,1500,300,300\n")
    given = ("--params", tmp_path / "params.csv", "--map", tmp_path / "map.csv")
    assert rappor("decode", *given, "--counts", tmp_path / "counts.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("a\\n\\x1b[31mb ")
    assert lines[2].startswith("日本 ")
