"""The shares of a finite mixture by expectation maximisation, and what the data say around them."""

from __future__ import annotations

import numpy as np

from dpest.rappor.decoding.evidence import inverse

_ROUNDS = 2000
_SETTLED = 1e-9
_TINY = 1e-300


def em_step(likelihood: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """One step: the mean over all reports of how likely each component is to have made it."""
    joint = likelihood @ shares
    return shares * (likelihood.T @ (1 / np.maximum(joint, _TINY))) / len(likelihood)


def em(likelihood: np.ndarray, steps: int) -> np.ndarray:
    """This many plain steps from equal shares."""
    shares = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(steps):
        shares = em_step(likelihood, shares)
    return shares


def fit_mixture(likelihood: np.ndarray) -> np.ndarray:
    """The most likely shares, by EM with squared extrapolation (SQUAREM).

    An extrapolated step is taken only if it raises the likelihood, so the climb never turns back.
    """
    shares = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(_ROUNDS):
        once = em_step(likelihood, shares)
        twice = em_step(likelihood, once)
        step, bend = once - shares, twice - 2 * once + shares
        if np.abs(twice - once).sum() < _SETTLED:
            return twice
        length = np.sqrt((step @ step) / max(bend @ bend, _TINY))
        leap = _simplex(shares + 2 * length * step + length**2 * bend)
        shares = (
            leap
            if _log_likelihood(likelihood, leap) > _log_likelihood(likelihood, twice)
            else twice
        )
    return shares


def neighbourhood(
    likelihood: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """One Newton step from these shares without the sign constraint.

    Returns the estimate, its covariance (rows sum to zero, as shares sum to one) and the score
    statistic `score · information⁻¹ · score` of these shares.
    """
    last = int(np.argmax(shares))
    others = np.delete(np.arange(len(shares)), last)
    joint = np.maximum(likelihood @ shares, _TINY)[:, None]
    slopes = (likelihood[:, others] - likelihood[:, [last]]) / joint
    score, covariance = slopes.sum(axis=0), inverse(slopes.T @ slopes)
    spread = np.zeros((len(shares), len(others)))
    spread[others, np.arange(len(others))] = 1
    spread[last] = -1
    estimate = shares + spread @ (covariance @ score)
    return estimate, spread @ covariance @ spread.T, float(score @ covariance @ score)


def _simplex(shares: np.ndarray) -> np.ndarray:
    positive = np.maximum(shares, 1e-12)
    return positive / positive.sum()


def _log_likelihood(likelihood: np.ndarray, shares: np.ndarray) -> float:
    return float(np.log(np.maximum(likelihood @ shares, _TINY)).sum())
