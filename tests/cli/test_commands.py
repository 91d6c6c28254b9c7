"""The commands as typed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dpest.audit import audit
from dpest.cli import main
from dpest.engines.finding import Finding
from dpest.evidence import Bound
from dpest.report import table
from dpest.zoo import ENTRIES, find

KEYS = [
    "mechanism", "inputs", "neighbors", "params", "claim", "verdict", "lower", "upper",
    "lower_status", "upper_status", "method", "seconds", "witness", "proof", "notes",
]  # fmt: skip
PAIR = ("--inputs", "reals:2", "--neighbors", "pairs:[[0,0],[1,1]]")


def test_list_shows_every_mechanism(run):
    result = run("list")
    assert result.code == 0
    for entry in ENTRIES:
        assert entry.name in result.out
        assert entry.title in result.out


def test_audit_of_a_claim_that_holds(run):
    result = run("audit", "mechanisms.py::counts", *PAIR, "--claim", "0.2")
    assert result.code == 0
    assert result.out.startswith("The claim of 0.2-DP holds")
    assert result.err == ""


def test_audit_of_a_claim_that_is_refuted(run):
    result = run("audit", "mechanisms.py::counts", *PAIR, "--claim", "0.1")
    assert result.code == 1
    assert "refuted" in result.out
    assert "witness" in result.out


def test_audit_without_a_claim(run):
    result = run("audit", "mechanisms.py::counts", *PAIR)
    assert result.code == 0
    assert "0.2" in result.out


@pytest.mark.parametrize("ending", ["html", "md", "json", "txt"])
def test_audit_saves_what_it_prints(run, tmp_path, ending):
    target = tmp_path / f"report.{ending}"
    result = run("audit", "mechanisms.py::counts", *PAIR, "--claim", "0.1", "--save", str(target))
    assert result.code == 1
    assert "refuted" in result.out
    assert "refuted" in target.read_text()


def test_audit_refuses_to_save_before_it_works(run, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[audit.__module__], "answer", lambda *_: pytest.fail("worked"))
    for name, reason in (("r.docx", "none of these endings"), ("no/r.md", "no such directory")):
        result = run("audit", "mechanisms.py::counts", *PAIR, "--save", str(tmp_path / name))
        assert result.code == 2
        assert reason in result.err


def test_audit_that_decides_nothing(run, monkeypatch):
    nothing = Finding(Bound(0.0, float("inf")), "none")
    monkeypatch.setattr(sys.modules[audit.__module__], "answer", lambda *_: nothing)
    result = run("audit", "mechanisms.py::counts", *PAIR, "--claim", "0.2")
    assert result.code == 3


def test_audit_as_json(run):
    result = run("audit", "mechanisms.py::counts", *PAIR, "--claim", "0.1", "--json")
    found = json.loads(result.out)
    assert list(found) == KEYS
    assert found["verdict"] == "refuted"
    assert found["lower"] == pytest.approx(0.2)
    assert set(found["witness"]) == {"x", "x_prime", "event", "p", "p_prime"}


def test_param_overrides_the_default(run):
    result = run("audit", "mechanisms.py::counts", *PAIR, "--param", "eps=0.5", "--json")
    assert json.loads(result.out)["lower"] == pytest.approx(1.0)


def test_zoo_names_bring_their_defaults(run):
    result = run("audit", "svt1", "--neighbors", f"pairs:{json.dumps([[1] * 10, [2] * 10])}",
                 "--json")  # fmt: skip
    found = json.loads(result.out)
    assert found["claim"] == 0.1
    assert found["params"] == find("svt1").params


def test_titles_work_as_names(run):
    text = json.dumps([[1] * 5, [2] * 5])
    result = run("audit", "ReportNoisyMax3", "--neighbors", f"pairs:{text}", "--json")
    assert json.loads(result.out)["lower"] == pytest.approx(0.25)


def test_values_of_any_kind(run):
    result = run("audit", "mechanisms.py::coin", "--inputs", "one_of:red,green",
                 "--neighbors", "any_pair", "--json")  # fmt: skip
    assert json.loads(result.out)["lower"] == "inf"


def test_several_pairs_of_one_number(run):
    result = run("audit", "mechanisms.py::one", "--inputs", "reals:1",
                 "--neighbors", "pairs:[[0, 1], [0, 3]]", "--json")  # fmt: skip
    assert json.loads(result.out)["lower"] == pytest.approx(0.3)


def test_graph_to_a_file(run, here):
    result = run("graph", "svt1", "-o", "x.svg")
    assert result.code == 0
    assert (here / "x.svg").read_text().startswith("<svg")


def test_graph_of_an_own_function(run):
    result = run("graph", "mechanisms.py::counts", "--inputs", "reals:3", "--param", "eps=2")
    assert result.code == 0
    assert "laplace(scale=0.5)" in result.out


@pytest.fixture(scope="module")
def rows():
    """The report of a few mechanisms."""
    names = ("laplace_mechanism", "report_noisy_max1", "report_noisy_max3", "rappor")
    return table.collect([find(name) for name in names])


@pytest.mark.parametrize("form", ["text", "md", "json"])
def test_report_of_a_few_mechanisms(run, here, monkeypatch, rows, form):
    monkeypatch.setattr(table, "collect", lambda: rows)
    result = run("report", "--format", form)
    assert result.code == 0
    if form == "json":
        found = json.loads(result.out)
        assert [row["mechanism"] for row in found["rows"]] == [row.entry.name for row in rows]
        assert all(list(row) == KEYS for row in found["rows"])
        assert found["seed"]["report_noisy_max1"]["dp_sniper"] == 0.092
    else:
        assert "ReportNoisyMax1" in result.out
        assert "0.1069" in result.out
        assert "RAPPOR: The claim of 0.4-DP is refuted" in result.out
    assert run("report", "--format", form, "--output", "r.out").out == ""
    assert (here / "r.out").read_text() == result.out


def test_text_report_fits_and_aligns(rows):
    lines = table.render(rows, "text").splitlines()
    assert len({len(line) for line in lines[1 : 2 + len(rows)]}) == 1
    assert all(len(line) <= 140 for line in lines)


def test_a_published_infinity_that_is_finite_at_this_size(rows):
    line = next(line for line in table.render(rows, "text").splitlines() if "Max3" in line)
    assert line.split()[3:6] == ["∞", "0.25", "finite"]


def test_a_mechanism_that_cannot_be_audited_does_not_end_the_report(monkeypatch):
    import dataclasses

    def fails(x, rng):
        raise ValueError("no such table")

    entry = dataclasses.replace(find("laplace_mechanism"), function=fails, params={})
    (row,) = table.collect([entry])
    assert row.report.method == "none"
    assert "no such table" in table.render([row], "text")


def test_pattern_report(run, monkeypatch):
    from dpest.report import patterns

    rows = patterns.collect([find("report_noisy_max4"), find("noisy_hist1")])
    monkeypatch.setattr(patterns, "collect", lambda: rows)
    assert "∞" in run("report", "--patterns").out
    found = json.loads(run("report", "--patterns", "--format", "json").out)
    assert found["rows"][0]["losses"]["one_above"] == "inf"
    assert found["rows"][1]["losses"] == {"one_above": 0.1, "one_below": 0.1}


def test_check_of_a_proof_and_of_a_forged_one(run, here):
    printed = run("audit", "laplace_mechanism", "--json").out
    (here / "proof.json").write_text(printed)
    result = run("check", "proof.json")
    assert result.code == 0
    assert "The proof is right" in result.out
    forged = json.loads(printed)
    forged["proof"] = {**forged["proof"], "upper": "1/100"}
    (here / "forged.json").write_text(json.dumps(forged))
    assert run("check", "forged.json").code == 1


def test_help_and_version(capsys):
    for argument in ("--help", "--version"):
        with pytest.raises(SystemExit) as stop:
            main([argument])
        assert stop.value.code == 0
    assert "0 holds or no claim, 1 refuted" in capsys.readouterr().out


# -- as a program -----------------------------------------------------------------------------


def test_list_imports_nothing_heavy():
    code = (
        "import sys; from dpest.cli import main; main(['list']); "
        "print(sorted({'scipy', 'sklearn', 'matplotlib', 'highspy', 'rich', 'duckdb', 'joblib', "
        "'dpest.trace', 'dpest.engines', 'dpest.audit'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m dpest.cli list | head -n 1",
        shell=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith("name")
    assert done.stderr == ""


def test_no_progress_in_a_pipe(here):
    done = subprocess.run(
        [sys.executable, "-m", "dpest.cli", "audit", "mechanisms.py::counts", *PAIR],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupt_is_quiet(here):
    (here / "long.py").write_text(
        "import time\ndef f(x, rng):\n    print('ready', flush=True)\n    time.sleep(30)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "dpest.cli", "audit", "long.py::f", "--inputs", "reals:1",
         "--neighbors", "l1:1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == ""
