"""Mechanisms of other libraries as black boxes: their claims hold, and wrong claims are refuted.

Run where `pip install .[peers]` has put `diffprivlib` and `opendp`; skipped elsewhere.
"""

from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.evidence import Verdict

EPS = 1.0
SAMPLES = 12_000


def diffprivlib_laplace() -> tuple[Callable[..., Any], Any, Any]:
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    return mechanisms.Laplace(epsilon=EPS, sensitivity=1.0).randomise, 0.0, 1.0


def diffprivlib_geometric() -> tuple[Callable[..., Any], Any, Any]:
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    return mechanisms.Geometric(epsilon=EPS, sensitivity=1).randomise, 0, 1


def diffprivlib_exponential() -> tuple[Callable[..., Any], Any, Any]:
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")

    def chosen(utilities: list[float]) -> Any:
        utility = [float(u) for u in utilities]
        return mechanisms.Exponential(epsilon=EPS, sensitivity=1.0, utility=utility).randomise()

    return chosen, [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]


def opendp_laplace() -> tuple[Callable[..., Any], Any, Any]:
    dp = _opendp()
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return dp.m.make_laplace(*space, scale=1 / EPS), 0.0, 1.0


def opendp_discrete_laplace() -> tuple[Callable[..., Any], Any, Any]:
    dp = _opendp()
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    return dp.m.make_laplace(*space, scale=1 / EPS), 0, 1


def opendp_noisy_max() -> tuple[Callable[..., Any], Any, Any]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    measurement = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 / EPS)

    def winner(x: Any) -> Any:
        return measurement([float(entry) for entry in x])

    return winner, [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]


def _opendp() -> Any:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    return dp


PEERS = [
    diffprivlib_laplace,
    diffprivlib_geometric,
    diffprivlib_exponential,
    opendp_laplace,
    opendp_discrete_laplace,
    opendp_noisy_max,
]


def audited(peer, claim):
    """As a user would: the mechanism as it is, on the pair of neighbours."""
    mechanism, x, x_prime = peer()
    size = len(x) if isinstance(x, list) else 1
    inputs = dpest.integers(1, 0, 1) if isinstance(x, int) else dpest.reals(size)
    return dpest.audit(
        dpest.blackbox(mechanism), inputs, dpest.pairs([(x, x_prime)]), claim,
        samples=SAMPLES, time_limit=None,
    )  # fmt: skip


@pytest.mark.parametrize("peer", PEERS)
def test_the_claim_of_the_library_stands(peer):
    report = audited(peer, EPS)
    assert report.bound.lower_status == "statistical", report.notes
    assert report.verdict is Verdict.UNKNOWN
    assert report.lower > 0.5 * EPS


@pytest.mark.parametrize("peer", PEERS)
def test_half_the_claim_is_refuted(peer):
    assert audited(peer, EPS / 2).verdict is Verdict.REFUTED
