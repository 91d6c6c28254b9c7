# %% [markdown]
# # Telemetry with RAPPOR, end to end
#
# A browser maker wants to know which home pages are common, and wants to learn nothing about any
# one client. Each of 200,000 clients sends one report with ε = 2. Which settings find most of the
# pages?

# %%
import matplotlib.pyplot as plt
import numpy as np

from dpest.rappor import Candidates, advise, count, decode, population, simulate_reports
from dpest.rappor.privacy import audited, worst_pair

CLIENTS, EPSILON = 200_000, 2.0
PAGES = [f"page-{number:03}.example" for number in range(200)]
rng = np.random.default_rng(20)

# %% [markdown]
# ## Before collecting anything: the parameters
#
# The advisor compares settings by formula: the share of a page that is found half the time, and
# how many pages of a Zipf population are found.

# %%
advice = advise(EPSILON, CLIENTS, detect=0.005, candidates=len(PAGES))
print(advice.to_table())

# %% [markdown]
# `limit` is the share that is found half the time. One hash function beats several at the same ε,
# for every further hash splits the budget. Of the published settings `h=1` leaves almost half of
# the budget unused, and `h=8`, as published, spends more than four times as much.
#
# ## What one report gives away
#
# The claim can be checked instead of believed. `worst_pair` computes the loss of the two pages
# that are easiest to tell apart; `audited` asks `dpest.audit` the same about the client's code.

# %%
params = advice.best.params
candidates = Candidates.hashed(PAGES, params)
worst = worst_pair(params, candidates)
print(f"{worst.first} against {worst.second}: epsilon = {worst.epsilon:.6f}")

report = audited(params, worst.first, worst.second, cohort=worst.cohort)
print(report.headline)
assert abs(report.upper - worst.epsilon) < 1e-9
assert report.upper <= EPSILON + 1e-9

# %% [markdown]
# ## Collect and decode
#
# Half of the candidates occur, with frequencies that fall off as 1/rank. The server sees the
# noisy bits only.

# %%
shares = population("zipf", len(PAGES), active=100)


def collected(params):
    """The decoding of simulated reports under these parameters, and the true shares."""
    candidates = Candidates.hashed(PAGES, params)
    reports, held = simulate_reports(params, candidates, shares, CLIENTS, rng)
    truth = np.bincount(held, minlength=len(PAGES)) / CLIENTS
    return decode(params, candidates, count(reports, params)), truth


ours, truth = collected(params)
print(*ours.to_table().splitlines()[:16], sep="\n")

# %%
published, published_truth = collected(advice.published[0].params)
for name, decoding in [("advised", ours), ("published", published)]:
    found = {row.string for row in decoding.rows}
    wrong = found & set(PAGES[100:])
    print(f"{name:9} {len(found - wrong):3} of 100 pages found, {len(wrong)} wrongly")
assert len(ours) > len(published)

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
rank = np.arange(1, 31)
for axes, decoding, true, proposal in [
    (panels[0], ours, truth, advice.best),
    (panels[1], published, published_truth, advice.published[0]),
]:
    low, high = decoding.prop_low_95[:30], decoding.prop_high_95[:30]
    color = np.where(decoding.detected[:30], "#2471a3", "#b0b0b0")
    axes.vlines(rank, 100 * low, 100 * high, color=color, linewidth=3)
    axes.plot(rank, 100 * true[:30], "_", color="black", markersize=6)
    title = f"{proposal.label}: epsilon {proposal.eps_1:.2f}"
    axes.set(title=title, xlabel="rank of the page", yscale="log", ylim=(0.2, 30))
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set(ylabel="share of clients, %", yticks=[0.3, 1, 3, 10, 30])
panels[0].set_yticklabels(["0.3", "1", "3", "10", "30"])
figure.suptitle("95 % intervals, blue where reported as found; black: the true share", fontsize=10)
plt.show()

# %% [markdown]
# The intervals hold the truth about 95 times in 100, found or not:

# %%
for name, decoding in [("advised", ours), ("published", published)]:
    inside = (decoding.prop_low_95 <= shares) & (shares <= decoding.prop_high_95)
    print(f"{name:9} {inside.mean():.0%} of 200 intervals hold the share of the population")
