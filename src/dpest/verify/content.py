"""A whole certificate: what it says, what it proves, and its fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpest.verify.alignment import read_neighbors, total_price
from dpest.verify.choices import read_mechanism
from dpest.verify.couplings import coupled
from dpest.verify.coverage import ASSUMED, PROVED, coverage
from dpest.verify.finite import read_finite
from dpest.verify.mixture import mixed
from dpest.verify.model import digest, fields, read_model
from dpest.verify.price import Malformed, Price
from dpest.verify.sentences import (
    alignment_sentences,
    coupled_sentences,
    finite_sentences,
    mixture_sentences,
    subsampling_sentences,
)
from dpest.verify.shift import Wrong
from dpest.verify.subsampling import subsampled

FORMAT = "dpest proof 1"
ENUMERATED = "enumerated"


def coverage_of(argument: str, program: Any) -> str:
    """What makes sure that the cases of the program are disjoint and cover everything."""
    if argument == "alignment":
        return coverage(read_model(program))
    if argument == "couplings":
        models = [read_model(member["program"]) for member in program["members"]]
        return PROVED if all(coverage(model) == PROVED for model in models) else ASSUMED
    if argument == "subsampling":
        return coverage(read_mechanism(program).model)
    if argument == "mixture":
        models = [read_model(entry["program"]) for entry in program["joined"]]
        return PROVED if all(coverage(model) == PROVED for model in models) else ASSUMED
    return ENUMERATED


def derive(content: Mapping[str, Any]) -> tuple[Price, list[str]]:
    """The bound that a certificate proves, and the certificate in sentences."""
    if content["argument"] == "alignment":
        model = read_model(content["program"])
        neighbors = read_neighbors(content["neighbors"], model)
        found = total_price(model, neighbors, content["alignment"])
        seen = coverage(model)
        _same_coverage(content, seen)
        return found.price, alignment_sentences(model, content["neighbors"], found, seen)
    if content["argument"] == "couplings":
        best = coupled(content["program"], content["neighbors"], content["alignment"])
        _same_coverage(content, best.coverage)
        return best.found.price, coupled_sentences(best)
    if content["argument"] == "mixture":
        mixture = mixed(content["program"], content["neighbors"], content["alignment"])
        _same_coverage(content, mixture.coverage)
        return mixture.price, mixture_sentences(mixture)
    if content["argument"] == "subsampling":
        found_ = subsampled(content["program"], content["neighbors"], content["alignment"])
        _same_coverage(content, found_.coverage)
        return found_.price, subsampling_sentences(found_, content["neighbors"])
    if content["argument"] == "finite":
        if content["coverage"] != ENUMERATED:
            raise Malformed("the finite argument counts all cases")
        ratios, pairs = read_finite(content["program"], content["neighbors"])
        price, where = ratios.price(pairs)
        if price is None:
            raise Wrong(f"input {where[0]} can give what input {where[1]} cannot")
        return price, finite_sentences(ratios, pairs, price, where)
    raise Malformed(f"{content['argument']!r} is not an argument")


def _same_coverage(content: Mapping[str, Any], seen: str) -> None:
    if content["coverage"] != seen:
        raise Wrong(f"that the paths cover everything is {seen}, not {content['coverage']}")


def seal(
    mechanism: str, argument: str, program: Any, neighbors: Any, alignment: Any
) -> tuple[dict[str, Any], Price]:
    """The finished certificate and what it proves; raises where it proves nothing."""
    content: dict[str, Any] = {
        "format": FORMAT, "mechanism": mechanism, "argument": argument, "program": program,
        "neighbors": neighbors, "alignment": alignment,
        "coverage": coverage_of(argument, program),
    }  # fmt: skip
    price, sentences = derive(content)
    content |= {"upper": price.to_json(), "sentences": sentences}
    content["program_digest"] = digest(program)
    content["digest"] = digest(content)
    return content, price


def open_content(content: Any) -> Price:
    """The bound that a certificate states, after checking its form and its fingerprints."""
    fields(content, "format", "mechanism", "argument", "program", "neighbors", "alignment",
           "coverage", "upper", "sentences", "program_digest", "digest")  # fmt: skip
    if content["format"] != FORMAT:
        raise Malformed(f"the format is {content['format']!r}, not {FORMAT!r}")
    if not isinstance(content["mechanism"], str):
        raise Malformed("the mechanism has no name")
    if content["argument"] == "finite" and content["alignment"] is not None:
        raise Malformed("the finite argument needs no alignment")
    if content["program_digest"] != digest(content["program"]):
        raise Malformed("the program is not the one that was fingerprinted")
    rest = {key: value for key, value in content.items() if key != "digest"}
    if content["digest"] != digest(rest):
        raise Malformed("the certificate is not the one that was fingerprinted")
    return Price.from_json(content["upper"])
