"""95 % intervals over many runs, for each share separately and in settings that strain them."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from dpest.rappor.candidates import Candidates
from dpest.rappor.counting.counts import Counts
from dpest.rappor.decoding import decode
from dpest.rappor.params import Params
from dpest.rappor.simulate import simulate_counts, simulate_reports, value_names

COMMON = (0.3, 0.15, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
RARE = (0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
RUNS, MAPS = 500, 20


class Setting(NamedTuple):
    """Clients hold candidates with these shares; the rest hold nothing or unlisted strings."""

    params: Params
    clients: int
    candidates: int
    shares: tuple[float, ...]
    unlisted: int = 0

    def population(self, salt):
        """The candidates, all that clients hold, and the probabilities of these."""
        names = value_names(self.candidates + self.unlisted)
        if self.params.m == 1:
            held = Candidates.fixed(names, self.params)
        else:
            held = Candidates.hashed(names, self.params, salt=str(salt))
        listed = held.subset(range(self.candidates))
        rest = 1 - sum(self.shares)
        probabilities = np.zeros(len(held) + 1)
        probabilities[: len(self.shares)] = self.shares
        probabilities[self.candidates : -1] = rest / max(self.unlisted, 1)
        probabilities[-1] = 0 if self.unlisted else rest
        blank = np.full((1, held.positions.shape[1]), -1)
        everyone = Candidates((*held.strings, ""), np.vstack([held.positions, blank]))
        return listed, everyone, probabilities


SETTINGS = {
    "basic, a third hold nothing": Setting(Params.basic(16, 0, 0.25, 0.75), 3000, 16, COMMON),
    "a third hold nothing": Setting(Params(32, 2, 8, 0, 0.25, 0.75), 5000, 40, COMMON),
    "nobody holds anything": Setting(Params(32, 2, 8, 0, 0.25, 0.75), 3000, 30, ()),
    "30 reports in a cohort": Setting(Params(16, 2, 32, 0, 0.25, 0.75), 1000, 30, COMMON),
    "a frequent string is missing": Setting(Params(32, 2, 16, 0.5, 0.2, 0.8), 9000, 60, RARE, 1),
    "more candidates than bits": Setting(Params(32, 2, 16, 0, 0.2, 0.8), 20_000, 800, COMMON),
    "hardly any noise": Setting(Params(128, 4, 8, 0, 0.05, 0.95), 5000, 40, COMMON),
}
EVERYWHERE = [(name, "counts") for name in SETTINGS]
WHOLE = [(name, "reports") for name in list(SETTINGS)[:4]]


def covered(setting, method, runs):
    """For each run and candidate, whether the interval holds the share."""
    populations = [setting.population(salt) for salt in range(MAPS)]
    return np.array([_one(setting, method, run, *populations[run % MAPS]) for run in range(runs)])


def _one(setting, method, run, listed, everyone, probabilities):
    params, rng = setting.params, np.random.default_rng([run, 95])
    simulate = simulate_counts if method == "counts" else simulate_reports
    made, _ = simulate(params, everyone, probabilities, setting.clients, rng)
    data = {"counts": made} if isinstance(made, Counts) else {"reports": made}
    decoding = decode(params, listed, **data, method=method)
    shares = probabilities[: len(listed)]
    return (decoding.prop_low_95 <= shares) & (shares <= decoding.prop_high_95)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), EVERYWHERE + WHOLE)
def test_intervals_cover_every_share_in_93_to_97_percent_of_500_runs(name, method):
    """Each share by itself: no count that is improbable (1 in 2000) between 93 and 97 %."""
    setting = SETTINGS[name]
    hits = covered(setting, method, RUNS).astype(int)
    fewest, most = binom.ppf(0.0005, RUNS, 0.93), binom.ppf(0.9995, RUNS, 0.97)
    for rank, share in enumerate(setting.shares):
        assert fewest <= hits[:, rank].sum() <= most, share
    assert 0.94 <= hits[:, len(setting.shares) :].mean() <= 0.97


def test_reports_of_a_fixed_set_allow_for_clients_that_hold_nothing():
    """Half of the clients hold none of the values: shares need not sum to one."""
    setting = Setting(Params.basic(8, 0, 0.25, 0.75), 4000, 8, (0.3, 0.2))
    assert covered(setting, "reports", 30).mean() > 0.9


def test_whole_reports_do_not_take_empty_filters_for_absent_strings():
    hits = covered(SETTINGS["nobody holds anything"], "reports", 15)
    assert hits.mean() > 0.93


def test_strings_with_the_same_bits_are_found_together_and_unknown_apart():
    params = Params(16, 1, 4, 0, 0.25, 0.75)
    once = Candidates.hashed(value_names(6), params)
    shares = np.array([0.4, 0.3, 0.2, 0.1, 0, 0])
    counts, _ = simulate_counts(params, once, shares, 20_000, np.random.default_rng(2))
    both = Candidates((*once.strings, "twin"), once.positions[[0, 1, 2, 3, 4, 5, 0]])
    decoding = decode(params, both, counts)
    alone = decode(params, once, counts)
    assert decoding.metrics["indistinguishable"] == 2
    assert 2 * decoding["twin"].proportion == pytest.approx(alone["v1"].proportion)
    assert (decoding["twin"].prop_low_95, decoding["v1"].prop_high_95) == (0, 1)
    assert decoding["v2"].prop_std_error == pytest.approx(alone["v2"].prop_std_error)


def test_a_crowd_among_too_few_bits_is_said():
    params = Params(16, 2, 8, 0, 0.1, 0.9)
    shares = np.append(np.full(40, 1 / 40), np.zeros(260))
    candidates = Candidates.hashed(value_names(300), params)
    counts, _ = simulate_counts(params, candidates, shares, 200_000, np.random.default_rng(3))
    decoding = decode(params, candidates, counts)
    assert decoding.metrics["crowded"]
    assert "less often than 95 %" in decoding.to_table()
