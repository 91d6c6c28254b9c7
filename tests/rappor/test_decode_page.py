"""The page of a decoding: complete, escaped, also where nothing was found."""

import re

import numpy as np
import pytest
from page_reader import Reader

from dpest.rappor import Candidates, Params, decode
from dpest.rappor.simulate import population, simulate_counts
from dpest.report.html.rappor import Collection, page
from dpest.report.html.rappor.fit import residuals


def collected(reports, params=None, **options):
    params = params or Params(k=32, h=2, m=4, f=0.25, p=0.3, q=0.7)
    names = [f"<{number}>" for number in range(20)]
    candidates = Candidates.hashed(names, params)
    shares = population("zipf", 20, active=10)
    counts, holders = simulate_counts(params, candidates, shares, reports, np.random.default_rng(2))
    truth = dict(zip(names, (holders / holders.sum()).tolist(), strict=True))
    return Collection(params, candidates, counts, decode(params, candidates, counts, **options),
                      truth)  # fmt: skip


SECTIONS = ["found", "strings", "truth", "fit", "residuals", "life", "parameters"]


@pytest.mark.parametrize("method", ["counts", "seed"])
def test_the_whole_page(method):
    found = collected(100_000, method=method)
    text = page(found)
    read = Reader(text)
    assert re.findall(r'<section id="(\w+)"', text) == SECTIONS
    assert "nan" not in re.findall(r"<svg.*?</svg>", text, re.S).__repr__()
    for row in found.decoding.rows:
        assert row.string in read.text
    assert len(found.decoding) > 3
    assert "<0>" not in text, "strings are escaped"


def test_without_the_truth_there_is_no_word_of_it():
    found = collected(100_000)
    text = page(Collection(found.params, found.candidates, found.counts, found.decoding))
    assert re.findall(r'<section id="(\w+)"', text) == [s for s in SECTIONS if s != "truth"]


def test_nothing_found():
    found = collected(40)
    assert len(found.decoding) == 0
    assert "No string stands out" in Reader(page(found)).text


def test_one_time_reports_have_no_instantaneous_line():
    found = collected(20_000, Params.one_time(k=32, h=2, m=4, f=0.5))
    assert "first report" not in page(found)
    assert "permanent response" in page(found)


def test_residuals_are_noise_where_the_fit_is_right_and_stand_out_where_not():
    found = collected(400_000)
    assert residuals(found) == pytest.approx(np.ones(4), abs=0.35)
    swapped = found.counts.ones.copy()
    swapped[1] = swapped[1][::-1]
    broken = Collection(found.params, found.candidates, type(found.counts)(found.counts.N, swapped),
                        found.decoding)  # fmt: skip
    sizes = residuals(broken)
    assert sizes.argmax() == 1
    assert sizes[1] > 5


def test_cohorts_without_reports():
    found = collected(50_000)
    sizes, ones = found.counts.N.copy(), found.counts.ones.copy()
    sizes[2], ones[2] = 0, 0
    counts = type(found.counts)(sizes, ones)
    decoding = decode(found.params, found.candidates, counts)
    text = page(Collection(found.params, found.candidates, counts, decoding))
    assert "Cohorts without reports are left out: 1." in text
    assert np.isnan(residuals(Collection(found.params, found.candidates, counts, decoding))[2])
