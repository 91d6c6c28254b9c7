"""`dpest explain` and `dpest diff` as typed."""

import json
import math
import re
from statistics import NormalDist

import pytest

from dpest.zoo import ENTRIES
from dpest.zoo.found import BUGS

ON = ("--inputs", "reals:3", "--neighbors", "linf:1")
FAST = [e for e in ENTRIES if e.name not in ("svt34_parallel", "noisy_max_sum")]


def sections(text):
    """The lines below every title."""
    found = {}
    for block in text.rstrip("\n").split("\n\n"):
        if not block.startswith("  "):
            title, *lines = block.splitlines()
            found[title] = lines
        else:
            found[title] += block.splitlines()
    return found


def paid(lines):
    """The rows of a table of payments: (line, noise, draws, moved by, each, together, share)."""
    start = next(k for k, line in enumerate(lines) if line.strip().startswith("----"))
    ends = [m.end() for m in re.finditer("-+", lines[start])]
    cut = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
    return [tuple(line[c].strip() for c in cut) for line in lines[start + 1 :]]


@pytest.mark.parametrize("entry", FAST, ids=lambda entry: entry.name)
def test_every_published_mechanism_is_explained(run, entry):
    result = run("explain", entry.name)
    assert result.code in (0, 1, 3)
    assert result.err == ""
    assert max(map(len, result.out.splitlines())) <= 100
    told = sections(result.out)
    works = told["How it works"]
    assert re.match(r"  It is given \w+", works[0])
    assert any(line.startswith("  line ") for line in works)
    assert any("draws " in line for line in works)
    assert any(line.startswith("  It returns ") for line in works)
    assert told["Where it is worst"]
    assert "\x1b" not in result.out
    assert "/src/" not in result.out


@pytest.mark.parametrize("entry", FAST, ids=lambda entry: entry.name)
def test_what_is_paid_adds_up_to_the_bound(run, entry):
    told = sections(run("explain", entry.name).out)
    title = next((t for t in told if t.startswith("What pays for epsilon = ")), None)
    if title is None:
        assert any(t.startswith("Why no epsilon") for t in told)
        return
    rows = paid(told[title])
    total = sum(float(row[-2]) for row in rows)
    assert total == pytest.approx(float(title.rpartition("=")[2]), rel=1e-5)
    assert sum(int(row[-1].rstrip("%")) for row in rows) == pytest.approx(100, abs=2)
    for row in rows:
        assert int(row[2]) * float(row[-3]) == pytest.approx(float(row[-2]), rel=1e-4)


def test_svt1_tells_what_the_threshold_and_the_query_pay(run):
    told = sections(run("explain", "svt1").out)
    rows = paid(told["What pays for epsilon = 0.1"])
    assert [row[1:4] + row[-2:] for row in rows] == [
        ("laplace(scale=20)", "1", "+1", "0.05", "50%"),
        ("laplace(scale=40)", "1", "1 - d[9]", "0.05", "50%"),
        ("laplace(scale=40)", "9", "not moved", "0", "0%"),
    ]
    works = "\n".join(told["How it works"])
    assert "It returns a list of 1 to 10 truth values." in works
    assert "The noise decides which of 11 paths is taken" in works


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bugs_that_were_found_are_explained_with_what_would_mend_them(run, bug):
    wrong, right = run("explain", bug.wrong.__name__), run("explain", bug.right.__name__)
    assert right.code == 0
    if bug.name != "noisy_hist2":  # whose published claim is the loss that it really has
        assert wrong.code == 1
        assert sections(wrong.out)["What would mend it"][0].startswith("  - ")
    assert "What would mend it" not in right.out


def test_an_own_function(run):
    result = run("explain", "mechanisms.py::counts", *ON, "--param", "eps=0.5", "--claim", "0.5")
    assert result.code == 1
    assert "draws laplace(scale=2), 3 times" in result.out
    assert "line 5    return x + rng.laplace(scale=1 / eps, size=len(x))" in result.out
    assert "- Multiply the scale of the laplace noise in line 5 by 3;" in result.out


def test_noise_of_another_file_shows_its_own_line(run, here):
    code = "\n\ndef add(x, rng):\n    return x + rng.laplace(size=len(x))\n"
    (here / "noise.py").write_text(code)
    (here / "uses.py").write_text("import noise\n\ndef f(x, rng):\n    return noise.add(x, rng)\n")
    assert "line 4    return x + rng.laplace(size=len(x))" in run("explain", "uses.py::f", *ON).out


def test_gaussian_noise_has_a_curve_instead(run, here):
    (here / "g.py").write_text("def f(x, rng):\n    return x + rng.normal(scale=2, size=len(x))\n")
    where = ("--inputs", "reals:2", "--neighbors", "l2:1")
    said = run("explain", "g.py::f", *where).out
    assert "Why no epsilon is proved" in said
    normal = NormalDist().cdf
    delta = normal(0.25 - 2) - math.e * normal(-0.25 - 2)
    found = re.search(r"delta\(1\) = (\S+)", said)[1]
    assert float(found) == pytest.approx(delta, rel=1e-5)
    assert "rho = 0.125 (zero-concentrated)" in said
    result = run("explain", "g.py::f", *where, "--claim", "zcdp:0.1")
    assert result.code == 1
    assert "Or claim dpest.zcdp(0.125)" in result.out


def test_pairs_are_explained_without_payments(run):
    said = run("explain", "mechanisms.py::one", "--inputs", "reals:1",
               "--neighbors", "pairs:[[0, 1]]").out  # fmt: skip
    assert "not draw by draw" in said


def test_a_choice_of_values(run):
    said = run("explain", "mechanisms.py::coin", "--inputs", "one_of:red,green",
               "--neighbors", "any_pair").out  # fmt: skip
    assert "It is given one of 'red' or 'green'." in said
    assert "It returns 'red', 'other' or 'green'." in said
    assert "Under x' this never happens" in said


# -- diff -------------------------------------------------------------------------------------

LOST = "def f(x, rng):\n    noisy = x + rng.laplace(scale=2, size=len(x))\n    return {}\n"
SAFE, SCORE = "noisy.argmax()", "noisy.argmax(), noisy.max()"


@pytest.fixture
def versions(here):
    """old.py returns the winner, new.py also its score."""
    (here / "old.py").write_text(LOST.format(SAFE))
    (here / "new.py").write_text(LOST.format(SCORE))
    return "old.py::f", "new.py::f"


def test_a_loss_that_grew(run, versions):
    result = run("diff", *versions, *ON)
    assert result.code == 1
    told = sections(result.out)
    assert next(iter(told)) == "The privacy loss grew: 1 before, 1.5 after."
    assert paid(told["What paid before"])[0][1:4] == ("laplace(scale=2)", "1", "1 - d[0]")
    assert sum(float(row[-2]) for row in paid(told["What pays now"])) == 1.5
    changed = "\n".join(told["What changed in the source"])
    assert f"-    return {SAFE}" in changed
    assert f"+    return {SCORE}" in changed
    assert told["Where it is worst now"]


@pytest.mark.parametrize(
    ("turned", "claim", "code", "headline"),
    [
        (False, "2", 0, "The privacy loss grew: 1 before, 1.5 after."),
        (False, "1", 1, "The privacy loss grew: 1 before, 1.5 after."),
        (True, None, 0, "The privacy loss shrank: 1.5 before, 1 after."),
        (True, "0.5", 1, "The privacy loss shrank: 1.5 before, 1 after."),
    ],
)
def test_a_claim_decides_the_exit_code(run, versions, turned, claim, code, headline):
    names = versions[::-1] if turned else versions
    result = run("diff", *names, *ON, *(("--claim", claim) if claim else ()))
    assert result.code == code
    assert result.out.splitlines()[0] == headline


def test_the_same_is_the_same(run, versions):
    result = run("diff", versions[0], versions[0], *ON)
    assert result.code == 0
    assert result.out.startswith("The privacy loss is what it was: 1.\n")
    assert "Every draw costs what it cost before." in result.out
    assert "source" not in result.out


def test_names_from_the_list(run):
    result = run("diff", "svt1", "svt4")
    assert result.code == 1
    assert "svt4(eps=0.1, t=1.0, c=1)" in result.out
    assert "loss grew: 0.175 before, infinite after" in run("diff", "svt4", "svt5").out


def test_bounds_that_do_not_say(run):
    result = run("diff", "svt1", "svt2", "--inputs", "reals:3", "--neighbors", "l2:1")
    assert result.code == 3
    assert result.out.startswith("The privacy loss may have grown: between ")


def test_either_side_uses_its_own_helpers(run, here):
    for side, scale in (("old", 2.0), ("new", 1.0)):
        (here / side).mkdir()
        (here / side / "helpers.py").write_text(f"SCALE = {scale}\n")
        (here / side / "m.py").write_text(
            "import helpers\n\ndef f(x, rng):\n    return x + rng.laplace(scale=helpers.SCALE)\n"
        )
    result = run("diff", "old/m.py::f", "new/m.py::f", "--inputs", "reals:1", "--neighbors", "l1:1")
    assert result.out.startswith("The privacy loss grew: 0.5 before, 1 after.")


def test_diff_as_json(run, versions):
    found = json.loads(run("diff", *versions, *ON, "--json").out)
    assert (found["grew"], found["shrank"]) == (True, False)
    assert (found["before"]["upper"], found["after"]["upper"]) == (1.0, 1.5)
    assert f"-    return {SAFE}" in found["source"]


def test_other_measures_are_compared(run, here):
    for name, scale in (("a", 2), ("b", 1)):
        code = f"def f(x, rng):\n    return x + rng.normal(scale={scale}, size=len(x))\n"
        (here / f"{name}.py").write_text(code)
    result = run("diff", "a.py::f", "b.py::f", "--inputs", "reals:2", "--neighbors", "l2:1",
                 "--claim", "zcdp:0.3")  # fmt: skip
    assert result.code == 1
    assert result.out.startswith("Rho grew: 0.125 before, 0.5 after.")
