"""The result of one audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpest.claims import Claim, Pure
from dpest.evidence import Bound, Certificate, Verdict, Witness
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.report import text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpest.curves import Curves
    from dpest.curves.curves import Direction
    from dpest.program import Program


@dataclass(frozen=True)
class Report:
    """How much privacy a mechanism loses, with the evidence for it."""

    mechanism: str
    inputs: Inputs
    neighbors: Neighbors
    params: Mapping[str, Any]
    claim: Claim | None
    bound: Bound
    method: str
    seconds: float
    witness: Witness | None = None
    proof: Certificate | None = None
    notes: tuple[str, ...] = ()
    growth: tuple[tuple[int, float], ...] = ()
    """The proved bound at smaller input sizes, where the claim is that there is none."""
    program: Program | None = field(default=None, repr=False, compare=False)
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    sampled: Any = field(default=None, repr=False, compare=False)
    """The curves that counts give, where the bound comes from samples."""

    @property
    def lower(self) -> float:
        """No smaller epsilon is possible: the witness loses this much."""
        return self.bound.lower

    @property
    def upper(self) -> float:
        """No larger loss is possible."""
        return self.bound.upper

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds; without a claim, whether anything is known at all."""
        if self.claim is not None:
            return self.claim.verdict(self)
        return Verdict.HOLDS if self.bound.is_exact else Verdict.UNKNOWN

    @cached_property
    def curves(self) -> Curves:
        """The privacy loss beyond its maximum; computed when first asked for."""
        from dpest.curves import curves_of

        if self.sampled is not None:
            return self.sampled
        return curves_of(self)

    def delta(self, eps: Any, direction: Direction = "both") -> Any:
        """The least delta for which (eps, delta)-DP holds; a list of bounds for a list of eps.

        `direction` is "forward" (the first input of a pair is the likelier one), "backward" or
        "both", the worse of the two.
        """
        return self.curves.delta(eps, direction)

    def epsilon(self, delta: Any, direction: Direction = "both") -> Any:
        """The least epsilon for which (epsilon, delta)-DP holds; a list for a list of deltas."""
        return self.curves.epsilon(delta, direction)

    def trade_off(self, alpha: Any, direction: Direction = "both") -> Any:
        """The least type II error of a test between neighbours at type I error alpha (f-DP)."""
        return self.curves.trade_off(alpha, direction)

    def renyi(self, alpha: Any, direction: Direction = "both") -> Any:
        """The Rényi divergence of order alpha; a list of bounds for a list of orders."""
        return self.curves.renyi(alpha, direction)

    def zcdp(self) -> Bound:
        """The least rho for which rho-zCDP holds."""
        return self.curves.zcdp()

    def compose(self, k: int) -> Curves:
        """The same curves for k independent runs of the mechanism on the same input."""
        return self.curves.compose(k)

    def to_pld(self, step: float = 1e-4) -> Any:
        """A dp_accounting `PrivacyLossDistribution` that covers all neighbours (if installed)."""
        return self.curves.to_pld(step)

    def plot(self) -> Figure:
        """A matplotlib figure of delta(eps), the trade-off and the Rényi divergences."""
        return self.curves.plot(f"{self.mechanism}, {self.neighbors}: {self.curves.scope}")

    def repro(self) -> str:
        """A snippet that runs without dpest and shows the witness by simulation.

        Where the event is too rare for that, the snippet says so and runs both inputs once.
        """
        from dpest.report.repro import snippet

        if self.witness is None or self.function is None:
            raise ValueError(f"there is no witness for {self.mechanism} to reproduce")
        if self.witness.counted and not self.witness.test:
            raise ValueError(
                f"the witness for {self.mechanism} has no snippet: {self.witness.event!r} is not "
                "a Python expression"
            )
        return snippet(self.function, self.params, self.witness)

    def to_json(self) -> dict[str, Any]:
        """Plain data; an infinite number is the string "inf"."""
        return {
            "mechanism": self.mechanism,
            "inputs": str(self.inputs),
            "neighbors": str(self.neighbors),
            "params": dict(self.params),
            "claim": None if self.claim is None else _claim(self.claim),
            "verdict": str(self.verdict),
            "lower": _number(self.lower),
            "upper": _number(self.upper),
            "lower_status": self.bound.lower_status,
            "upper_status": self.bound.upper_status,
            "method": self.method,
            "seconds": self.seconds,
            "witness": self.witness.to_json() if self.witness else None,
            "proof": self.proof.to_json() if self.proof else None,
            "notes": list(self.notes),
            **self._measured(),
        }

    def _measured(self) -> dict[str, Any]:
        """The bounds that a claim other than a pure one is held against."""
        if self.claim is None or isinstance(self.claim, Pure):
            return {}
        bound = self.claim.bound(self)
        return {"measured": {
            "measure": self.claim.measure,
            "lower": _number(bound.lower), "upper": _number(bound.upper),
            "lower_status": bound.lower_status, "upper_status": bound.upper_status,
            "scope": self.curves.scope,
        }}  # fmt: skip

    def to_markdown(self) -> str:
        """The text of the report as Markdown."""
        from dpest.report.markdown import markdown

        return markdown(self)

    def save(self, path: str | Path) -> Path:
        """Write the report to a .html, .md, .json or .txt file, as the path's ending says."""
        from dpest.report.save import save

        return save(self, path)

    def __str__(self) -> str:
        return text.plain(self)

    def __repr__(self) -> str:
        return f"<Report on {self.mechanism}: {self.headline}>"

    def _repr_html_(self) -> str:
        from dpest.report.html import fragment

        return fragment(self)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return text.headline(self)


def _claim(claim: Claim) -> float | str:
    """A number for a pure claim, else the claim as typed on the command line."""
    return _number(claim.epsilon) if isinstance(claim, Pure) else claim.spelling


def _number(value: float) -> float | str:
    return "inf" if value == math.inf else value
