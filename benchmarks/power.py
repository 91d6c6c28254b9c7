"""What the black-box engine finds of the true loss, beside the exact value and DP-Sniper's figure.

python benchmarks/power.py [--samples 10000000] [--jobs 2] [--json out.json] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from blackbox_mechanisms import CASES, Case

from dpest.engines.blackbox import Estimate, Sampling, blackbox, estimate

HEADER = (
    "| mechanism | lower bound (95 %) | DP-Sniper | ratio | exact over patterns | found | "
    "samples a side | seconds |\n| --- | --: | --: | --: | --: | --: | --: | --: |"
)


def main() -> None:
    options = _options()
    chosen = [case for case in CASES if not options.names or case.name in options.names]
    print(HEADER)
    results = {}
    for case in chosen:
        result = estimate(
            blackbox(case.function),
            case.pairs,
            Sampling(
                samples=options.samples, seed=options.seed, jobs=options.jobs, time_limit=None
            ),
        )
        print(_row(case, result), flush=True)
        results[case.name] = _summary(result)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="mechanisms (all by default)")
    parser.add_argument("--samples", type=int, default=10_000_000, help="runs on either side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write the results here")
    return parser.parse_args()


def _row(case: Case, result: Estimate) -> str:
    ratio = f"{result.lower / case.dp_sniper:.2f}" if case.dp_sniper else ""
    known = case.exact is not None and math.isfinite(case.exact)
    found = f"{result.lower / case.exact:.1%}" if known else ""
    sniper = f"{case.dp_sniper:g}" if case.dp_sniper else ""
    exact = f"{case.exact:.4g}" if case.exact else "?"
    return (
        f"| {case.name} | {result.lower:.4f} | {sniper} | {ratio} | {exact} | {found} | "
        f"{result.samples:,} | {result.seconds:.0f} |"
    )


def _summary(result: Estimate) -> dict[str, object]:
    return {
        "lower": result.lower,
        "event": result.event,
        "counts": result.counts,
        "measured": result.measured,
        "pair": [x.tolist() for x in result.pair],
        "seconds": result.seconds,
    }


if __name__ == "__main__":
    main()
