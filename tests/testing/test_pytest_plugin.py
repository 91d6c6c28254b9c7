"""The plugin as users meet it: marked tests, failures, the budget, remembered results."""

import importlib
import re
import subprocess
import sys

import pytest

PRELOADED = (
    "numpy.fft", "scipy.special", "joblib", "joblib.externals.loky", "dpest.audit",
    "dpest.curves", "dpest.testing.memory", "dpest.testing.budget",
    "dpest.testing.message", "dpest.testing.summary",
)  # fmt: skip
for name in PRELOADED:
    importlib.import_module(name)  # pytester forgets what is imported inside, and numpy refuses
pytest_plugins = ["pytester"]

HEAD = """
import time
import numpy as np
import pytest
import dpest

private = pytest.mark.private
"""
HISTOGRAM = """
@private(inputs=dpest.reals(3), neighbors=dpest.l1(1), epsilon={epsilon})
def test_histogram(x, rng):
    return x + rng.laplace(scale=1.0, size=len(x))
"""


TWO = HISTOGRAM.format(epsilon=1) + HISTOGRAM.format(epsilon=5).replace("test_", "test_l")


@pytest.fixture
def run(pytester):
    """Write a test file and run pytest on it, as installed."""

    def of(code="", *arguments):
        if code:
            pytester.makepyfile(test_it=HEAD + code)
        return pytester.runpytest("-pno:hypothesispytest", *arguments)

    return of


def text(result):
    return "\n".join(result.outlines)


# -- marked tests -----------------------------------------------------------------------------


def test_a_marked_test_is_the_mechanism(run):
    result = run(HISTOGRAM.format(epsilon=1))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 privacy check: 1 private"])


def test_a_failure_tells_everything_and_shows_no_internals(run):
    result = run(HISTOGRAM.format(epsilon=0.5))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "The claim of 0.5-DP is refuted: the privacy loss is 1.",
        "  test_histogram on reals(3), neighbors l1(1), *test_it.py:8",
        "Two neighbouring inputs that an observer can tell apart better than claimed:",
        "    x  = [[]*",
        "    x' = [[]*",
        "    *: P = *, P' = *",
        "    - Multiply the scale of the laplace noise in line 10 by 2;*",
        "    - Or claim epsilon=1: that is proved.",
        "See it happen without dpest*",
    ])  # fmt: skip
    assert "src/dpest" not in text(result)
    assert "Traceback" not in text(result)
    assert "hidden" not in text(result)


def test_the_snippet_of_a_marked_test_runs_without_pytest_and_dpest(run, tmp_path):
    said = text(run(HISTOGRAM.format(epsilon=0.5)))
    code = said.split("needs numpy only):\n")[1].split("\n=====")[0]
    (tmp_path / "repro.py").write_text("\n".join(line[4:] for line in code.splitlines()))
    blocked = "import sys; sys.modules['pytest'] = sys.modules['dpest'] = None; "
    done = subprocess.run(
        [sys.executable, "-c", blocked + "exec(open('repro.py').read())"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == ""
    for found, expected in re.findall(r"P'? = (\S+) expected (\S+)", done.stdout):
        assert float(found) == pytest.approx(float(expected), rel=0.1)


def test_parameters_fixtures_and_methods(run):
    result = run("""
@pytest.fixture
def offset():
    return 3.0

@private(dpest.reals(2), dpest.l1(1), 1)
@pytest.mark.parametrize("eps", [0.5, 1.0, 2.0])
def test_parametrized(x, rng, eps, offset):
    return x + offset + rng.laplace(scale=1 / eps, size=len(x))

class TestGroup:
    scale = 2.0

    @private(dpest.reals(2), dpest.l1(1), epsilon=0.5)
    def test_method(self, x, rng):
        return x + rng.laplace(scale=self.scale, size=len(x))

    @staticmethod
    @private(dpest.reals(1), dpest.l1(1), epsilon=0.5)
    def test_static(value, generator):
        return value + generator.laplace(scale=2)
""")
    result.assert_outcomes(passed=4, failed=1)
    assert "test_parametrized(eps=2.0, offset=3.0) on reals(2)" in text(result)
    assert "test_parametrized[2.0]" in text(result)


def test_every_claim_must_hold(run):
    result = run("""
@private(dpest.reals(2), dpest.l1(1), 1)
@private(dpest.reals(2), dpest.linf(1), 1)
def test_both(x, rng):
    return x + rng.laplace(size=len(x))
""")
    result.assert_outcomes(failed=1)
    assert "neighbors linf(1)" in text(result)


@pytest.mark.parametrize(
    ("claim", "passes"),
    [("approx(1, 1e-2)", True), ("approx(1, 1e-5)", False), ("zcdp(0.2)", True),
     ("zcdp(0.01)", False), ("renyi(2, 0.2)", True), ("renyi(2, 0.01)", False)],
)  # fmt: skip
def test_other_claims(run, claim, passes):
    result = run(f"""
@private(dpest.reals(2), dpest.l2(1), claim=dpest.{claim})
def test_gaussian(x, rng):
    return x + rng.normal(scale=2.5, size=len(x))
""")
    result.assert_outcomes(passed=int(passes), failed=int(not passes))
    if not passes:
        kind = claim.partition("(")[0]
        assert "refuted" in text(result)
        assert re.search(rf"- Or claim dpest\.{kind}\(.*that is computed", text(result))
        assert re.search(r"x' = .*\n.*P' = .*\n.*, and at most .* is claimed", text(result))


@pytest.mark.parametrize(
    ("arguments", "parameters", "problem"),
    [
        ("dpest.reals(2), dpest.l1(1), 1", "", "def test_f(x, rng)"),
        ("dpest.reals(2), dpest.l1(1), eps=1", "x, rng", "'eps'"),
        ("dpest.reals(2)", "x, rng", "'neighbors'"),
        ("dpest.reals(2), dpest.l1(1)", "x, rng", "say what is"),
        ("3, dpest.l1(1), 1", "x, rng", "inputs must be"),
    ],
)
def test_misuse_is_said_in_a_line(run, arguments, parameters, problem):
    result = run(f"@private({arguments})\ndef test_f({parameters}):\n    return 1")
    result.assert_outcomes(failed=1)
    assert problem in text(result)


def test_the_marker_is_registered(run):
    assert "@pytest.mark.private(inputs, neighbors" in text(run("", "--markers"))
    run(HISTOGRAM.format(epsilon=1), "--strict-markers").assert_outcomes(passed=1)


# -- the mechanism's own errors ---------------------------------------------------------------

TYPO = """
def noisy(x, rng):
    return x + rng.laplace(scale=1 / eps, size=len(x))

def test_typo():
    dpest.assert_private(noisy, dpest.reals(2), dpest.l1(1), epsilon=1)
"""


@pytest.mark.parametrize("budget", [(), ("--dpest-budget=60",)])
def test_the_mechanisms_own_error_is_shown_where_it_is(run, budget):
    result = run(TYPO, *budget)
    result.assert_outcomes(failed=1)
    said = text(result)
    assert "NameError: name 'eps' is not defined" in said
    assert "return x + rng.laplace(scale=1 / eps, size=len(x))" in said
    assert "noisy raised this when dpest called it" in said
    assert "tracer.py" not in said
    assert "session.py" not in said


# -- samples ----------------------------------------------------------------------------------

UNTRACEABLE = """
@private(dpest.reals(1), dpest.l1(1), {claim})
def test_rounded(x, rng):
    return round(float(x + rng.laplace(scale=1.0)), 1)
"""


def test_what_cannot_be_traced_fails_and_says_what_to_do(run):
    result = run(UNTRACEABLE.format(claim="1"))
    result.assert_outcomes(failed=1)
    said = text(result)
    assert "test_rounded cannot be audited as it is written" in said
    assert "return round(float(x + rng.laplace(scale=1.0)), 1)" in said
    assert "- Or add statistical=True" in said


@pytest.mark.parametrize("budget", [(), ("--dpest-budget=120",)])
def test_samples_pass_what_they_do_not_refute(run, budget):
    code = UNTRACEABLE.format(claim="1, statistical=True, samples=20_000")
    result = run(code, *budget)
    result.assert_outcomes(passed=1)
    assert "1 privacy check: 1 not refuted by samples" in text(result)
    assert "1 privacy check (1 from the cache): 1 not refuted" in text(run(code, *budget))


def test_samples_refute(run):
    result = run(UNTRACEABLE.format(claim="0.5, statistical=True, samples=50_000, seed=3"))
    result.assert_outcomes(failed=1)
    said = text(result)
    assert "The claim of 0.5-DP is refuted" in said
    assert "- Add noise, or claim more: no epsilon below 0." in said
    assert "Two neighbouring inputs" in said


BOX = """
def box(x, rng):
    return x + rng.laplace()

def test_box():
    dpest.assert_private(dpest.blackbox(box), dpest.reals(1), dpest.l1(1), 1{how})
"""


def test_a_black_box_needs_the_word_statistical(run):
    said = text(run(BOX.format(how="")))
    assert "box is a black box: it can be run, and runs never show that a claim holds." in said
    result = run(BOX.format(how=", statistical=True, samples=20_000"))
    result.assert_outcomes(passed=1)
    result = run(BOX.format(how=", samples=20_000"))
    assert "TypeError: samples: only for a test with statistical=True" in text(result)


def test_statistical_proves_what_can_be_proved(run):
    result = run(HISTOGRAM.format(epsilon="1, statistical=True"))
    assert "1 privacy check: 1 private" in text(result)


# -- the budget -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n        pass",
        "while True:\n        try:\n            time.sleep(60)\n        except BaseException:\n"
        "            pass",
        "sum(range(10**18))",
    ],
    ids=["endless", "stubborn", "compiled"],
)
def test_the_budget_ends_everything(run, body):
    result = run(f"""
@private(dpest.reals(1), dpest.l1(1), 1)
def test_long(x, rng):
    {body}
""", "--dpest-budget=0.5")  # fmt: skip
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "The claim of 1-DP is undecided: nothing is known *. The budget of 0.5 s is used up."
    ])
    assert "a larger --dpest-budget" in text(result)


def test_what_fits_the_budget_is_answered_as_without(run):
    code = HISTOGRAM.format(epsilon=0.5)
    plain, limited = run(code, "-pno:cacheprovider"), run(code, "--dpest-budget=60")
    assert text(plain).split("FAILURES")[1].split("=====")[1] == (
        text(limited).split("FAILURES")[1].split("=====")[1]
    )


def test_the_budget_may_stand_in_the_configuration(pytester, run):
    pytester.makeini("[pytest]\ndpest_budget = 0.5\n")
    result = run("""
@private(dpest.reals(1), dpest.l1(1), 1)
def test_long(x, rng):
    time.sleep(60)
""")
    assert "The budget of 0.5 s is used up." in text(result)


@pytest.mark.parametrize("budget", ["0", "-1", "soon", "nan", "inf"])
def test_a_budget_that_makes_no_sense(run, budget):
    result = run(HISTOGRAM.format(epsilon=1), f"--dpest-budget={budget}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --dpest-budget is a number of seconds*'{budget}'"])


def test_a_check_that_was_stopped_is_not_remembered(run):
    code = """
@private(dpest.reals(1), dpest.l1(1), 1)
def test_long(x, rng):
    time.sleep(60)
"""
    for _ in range(2):
        result = run(code, "--dpest-budget=0.3")
        assert "from the cache" not in text(result)


# -- remembered results -----------------------------------------------------------------------

HELPED = """
import shared_noise

{extra}

def test_helped():
    report = dpest.assert_private(
        shared_noise.noisy, dpest.reals(2), dpest.l1(1), epsilon={epsilon}, params={params}
    )
    assert report.upper == 1 / {expected} and report.proof and report.witness
    assert dpest.check(report.proof)
"""
HELPERS = """
import numpy as np

SCALE = 2.0

class Settings:
    factor = 1.0

def scale(times=1.0):
    return SCALE * times * Settings.factor

def noisy(x, rng, extra=1.0):
    # a comment
    return x + rng.laplace(scale=scale() * extra, size=len(x))
"""


def helped(extra="", epsilon=0.5, params=None, expected=2.0):
    return HELPED.format(extra=extra, epsilon=epsilon, params=params or {}, expected=expected)


@pytest.mark.parametrize("epsilon", [0.5, 0.4])
def test_a_second_run_remembers(pytester, run, epsilon):
    pytester.makepyfile(shared_noise=HELPERS)
    first = run(helped(epsilon=epsilon))
    second = run(helped(epsilon=epsilon))
    assert "from the cache" not in text(first)
    assert "1 privacy check (1 from the cache)" in text(second)
    plain = [re.sub(r"\d\.\d\ds| \(1 from the cache\)", "", text(r)) for r in (first, second)]
    assert plain[0] == plain[1]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("SCALE = 2.0", "SCALE = 4.0", 4.0),
        ("times=1.0", "times=2.0", 4.0),
        ("factor = 1.0", "factor = 2.0", 4.0),
        ("SCALE * times", "SCALE * times * 2", 4.0),
        ("extra=1.0", "extra=2.0", 4.0),
        ("scale=scale() * extra", "scale=max(scale(), 4.0) * extra", 4.0),
    ],
)
def test_a_change_of_a_helper_is_seen(pytester, run, before, after, expected):
    pytester.makepyfile(shared_noise=HELPERS)
    run(helped()).assert_outcomes(passed=1)
    assert before in HELPERS
    pytester.makepyfile(shared_noise=HELPERS.replace(before, after))
    result = run(helped(expected=expected))
    result.assert_outcomes(passed=1)
    assert "from the cache" not in text(result)


@pytest.mark.parametrize(
    "changed",
    [
        helped("shared_noise.SCALE = 4.0", expected=4.0),
        helped("shared_noise.scale = lambda: 4.0", expected=4.0),
        helped("shared_noise.Settings.factor = 2.0", expected=4.0),
        helped("shared_noise.noisy.__defaults__ = (2.0,)", expected=4.0),
        helped(params={"extra": 2.0}, expected=4.0),
        helped(epsilon=0.6),
    ],
)
def test_a_change_while_running_is_seen(pytester, run, changed):
    pytester.makepyfile(shared_noise=HELPERS)
    run(helped()).assert_outcomes(passed=1)
    result = run(changed)
    result.assert_outcomes(passed=1)
    assert "from the cache" not in text(result)


def test_what_depends_on_the_outside_is_asked_every_time(run, monkeypatch):
    code = """
import os

@private(dpest.reals(2), dpest.l1(1), 0.5)
def test_outside(x, rng):
    return x + rng.laplace(scale=float(os.environ["SCALE"]), size=len(x))
"""
    monkeypatch.setenv("SCALE", "2.0")
    run(code).assert_outcomes(passed=1)
    monkeypatch.setenv("SCALE", "1.0")
    run(code).assert_outcomes(failed=1)


def test_the_cache_can_be_cleared_and_left_out(run):
    code = HISTOGRAM.format(epsilon=1)
    run(code)
    assert "from the cache" in text(run())
    assert "from the cache" not in text(run("", "--cache-clear"))
    run("", "-pno:cacheprovider").assert_outcomes(passed=1)


def test_a_remembered_report_still_has_its_curves(run):
    code = """
def noisy(x, rng):
    return x + rng.laplace(size=len(x))

def test_curve():
    report = dpest.assert_private(noisy, dpest.reals(2), dpest.l1(1), 1)
    assert abs(report.delta(0.5).upper - 0.2212) < 1e-4
"""
    for _ in range(2):
        result = run(code)
        result.assert_outcomes(passed=1)
    assert "from the cache" in text(result)


# -- other runners, other plugins -------------------------------------------------------------


def test_the_summary_names_the_tightest_and_the_loosest_claim(run):
    result = run(TWO)
    result.stdout.fnmatch_lines([
        "2 privacy checks: 2 private",
        "tightest claim: test_histogram in test_it.py::test_histogram: *at most 1, claimed 1",
        "loosest claim: test_lhistogram in *, claimed 5, 5 times as much as needed",
    ])  # fmt: skip


def test_without_checks_there_is_no_summary_and_nothing_heavy_is_loaded(pytester):
    pytester.makepyfile("""
import sys
def test_nothing():
    assert not {"numpy", "scipy", "highspy", "flint", "dpest.audit"} & set(sys.modules)
""")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert "privacy" not in text(result).replace("dpest-privacy", "")


def test_workers_report_to_the_summary(run):
    result = run(TWO, "-n2")
    result.assert_outcomes(passed=2)
    assert "2 privacy checks: 2 private" in text(result)
    assert "2 privacy checks (2 from the cache)" in text(run(TWO, "-n2"))


PLAIN = """
import unittest
import dpest

def noisy(x, rng):
    return x + rng.laplace(scale=0.5, size=len(x))

class Tests(unittest.TestCase):
    def test_noisy(self):
        dpest.assert_private(noisy, dpest.reals(2), dpest.l1(1), epsilon=1)

if __name__ == "__main__":
    {main}
"""


@pytest.mark.parametrize("main", ["unittest.main()", "Tests().test_noisy()"])
def test_other_runners_show_the_same_message(tmp_path, main):
    (tmp_path / "checks.py").write_text(PLAIN.format(main=main))
    done = subprocess.run(
        [sys.executable, "checks.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "AssertionError: The claim of 1-DP is refuted: the privacy loss is 2." in done.stderr
    assert "noisy on reals(2), neighbors l1(1), checks.py:5" in done.stderr
    assert "engines" not in done.stderr
