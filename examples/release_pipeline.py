# %% [markdown]
# # A release pipeline: a bug, its witness, its fix
#
# A health office publishes the first day on which cases exceed a threshold, and how many there
# were. One person may be counted on every day, so one person moves every count by at most 1:
# `dpest.linf(1)`. The budget is ε = 1, half for finding the day, half for the number. The author
# reasoned that the noise which found the day is four times what the number needs, so the noisy
# number can be released as it is.

# %%
import importlib
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import dpest

PIPELINE = '''\
def first_alarm(cases, rng, eps=1.0, threshold=50):
    """The first day above the threshold, and the number of cases."""
    limit = threshold + rng.laplace(scale=4 / eps)
    for day, count in enumerate(cases):
        noisy = count + rng.laplace(scale=8 / eps)
        if noisy >= limit:
            return {"day": day, "cases": noisy}
    return None
'''
Path("pipeline.py").write_text(PIPELINE)
print(PIPELINE)

# %% [markdown]
# ## A test
#
# The team writes down what it believes, for a week and for a fortnight.

# %%
Path("test_pipeline.py").write_text("""\
import pytest

import dpest
from pipeline import first_alarm


@pytest.mark.parametrize("days", [7, 14])
def test_first_alarm_is_private(days):
    dpest.assert_private(
        first_alarm, inputs=dpest.reals(days), neighbors=dpest.linf(1), epsilon=1.0
    )
""")


def run_tests():
    """The exit code of pytest, and what it prints."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "--color=no"]
    ran = subprocess.run([*command, "test_pipeline.py"], capture_output=True, text=True)
    return ran.returncode, ran.stdout


code, output = run_tests()
print(output)
assert code == 1

# %% [markdown]
# For a week the claim is true, for a fortnight it is not: a test at one size would have passed.
# The message names two inputs and an event that show it. `report.proof` says where the budget
# goes:

# %%
sys.path.insert(0, ".")
pipeline = importlib.import_module("pipeline")
broken = pipeline.first_alarm
report = dpest.audit(broken, inputs=dpest.reals(14), neighbors=dpest.linf(1), claim=1.0)
print(report.proof)

# %% [markdown]
# Once the noisy number is released, it must not move. So the threshold cannot move either, for
# the number was compared with it, and *every* earlier day has to pay for itself: 1/8 per day.
# Only the yes or no of the last day may be released for free.
#
# ## The fix
#
# Fresh noise for the number, from its own half of the budget. That noise is a quarter of the old,
# so the release is more accurate too.

# %%
Path("pipeline.py").write_text('''\
def first_alarm(cases, rng, eps=1.0, threshold=50):
    """The first day above the threshold, and the number of cases."""
    limit = threshold + rng.laplace(scale=4 / eps)
    for day, count in enumerate(cases):
        if count + rng.laplace(scale=8 / eps) >= limit:
            return {"day": day, "cases": count + rng.laplace(scale=2 / eps)}
    return None
''')
code, output = run_tests()
print(output)
assert code == 0

# %% [markdown]
# ## How bad was it?

# %%
mended = importlib.reload(pipeline).first_alarm
days = [1, 3, 5, 7, 10, 14, 17, 21]


def losses(mechanism):
    """What is proved for every number of days; a witness comes within a millionth of it."""
    neighbors = dpest.linf(1)
    reports = [dpest.audit(mechanism, dpest.reals(n), neighbors) for n in days]
    assert all(report.upper - report.lower < 1e-6 for report in reports)
    return [report.upper for report in reports]


before, after = losses(broken), losses(mended)
assert max(after) <= 1 + 1e-9 < max(before)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhline(1, color="#777777", linestyle=":")
axes.text(1, 1.04, "claimed", color="#777777")
axes.plot(days, before, "o-", color="#c0392b")
axes.text(16.5, 2.2, "the compared number is released", ha="right", color="#c0392b")
axes.plot(days, after, "s-", color="#2471a3")
axes.text(21, 0.82, "fresh noise for the number", ha="right", color="#2471a3")
axes.set(xlabel="days", ylabel="ε over all neighbours", ylim=(0, 2.8), xticks=days)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
