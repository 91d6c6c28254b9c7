"""From a plain numpy function to a `Program`: symbols, forks, replays, refusals."""

from dpest.trace.refusals import NeedsConcreteInput, Refusal
from dpest.trace.tracer import trace, trace_values

__all__ = ["NeedsConcreteInput", "Refusal", "trace", "trace_values"]
