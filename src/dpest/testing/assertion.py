"""assert_private(mechanism, ...): fail, with what a reader needs to mend it, unless it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dpest.claims import Claim, as_claim
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.testing import session
from dpest.testing.blame import RaisedElsewhere, own_traceback
from dpest.testing.check import Check

if TYPE_CHECKING:
    from dpest.engines.blackbox import BlackBox
    from dpest.report.result import Report


def assert_private(
    mechanism: Callable[..., Any] | BlackBox,
    inputs: Inputs,
    neighbors: Neighbors,
    epsilon: float | None = None,
    *,
    claim: Claim | None = None,
    params: Mapping[str, Any] | None = None,
    statistical: bool = False,
    samples: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
) -> Report:
    """Assert that `mechanism(x, rng, **params)` is as private as claimed.

    The claim is an `epsilon`, or another one such as `claim=dpest.approx(1, 1e-5)`. Returns the
    report where it is shown to hold. Raises `AssertionError` where it is refuted, and where it
    stays undecided; the message says which, with a counterexample or with what would decide it.
    Nothing is drawn at random, so a test that passes today passes tomorrow. An error that the
    mechanism itself raises is passed on.

    A mechanism that cannot be traced, and a `dpest.blackbox(f)`, fail too: samples can refute a
    claim and never show that it holds. With `statistical=True` such a mechanism is run, and the
    test passes where its samples do not refute the claim; `samples`, `confidence` and `seed` are
    those of `dpest.audit`. A claim that holds is then refuted by chance with a probability of at
    most 1 - confidence, for one seed always or never.
    """
    __tracebackhide__ = True
    sampling = _sampling(statistical, samples=samples, confidence=confidence, seed=seed)
    check = Check.of(mechanism, inputs, neighbors, _claimed(epsilon, claim), params, sampling)
    try:
        outcome = session.current().outcome(check)
    except RaisedElsewhere as raised:
        raise _explained(raised.error, check) from None
    except Exception as error:
        own = own_traceback(error)
        raise (_explained(error, check).with_traceback(own) if own else error)  # noqa: B904
    if outcome.message:
        raise AssertionError(outcome.message)
    assert outcome.report is not None
    return outcome.report


def _claimed(epsilon: float | None, claim: Claim | None) -> Claim:
    """The one claim that was made."""
    claimed = as_claim(epsilon if claim is None else claim)
    if claimed is None or (epsilon is not None and claim is not None):
        raise TypeError(
            "say what is claimed: either epsilon=1.0 or claim=dpest.approx(1.0, 1e-5) or the like"
        )
    return claimed


def _sampling(statistical: bool, **options: Any) -> dict[str, Any] | None:
    """The options of sampling that were given; None where samples are no answer."""
    given = {name: value for name, value in options.items() if value is not None}
    if given and not statistical:
        raise TypeError(f"{', '.join(given)}: only for a test with statistical=True")
    return given if statistical else None


def _explained(error: Exception, check: Check) -> Exception:
    """The mechanism's error, with a word on who called it."""
    error.add_note(
        f"{check.name} raised this when dpest called it with a stand-in for an input of "
        f"{check.inputs} and one for rng."
    )
    return error
