"""Candidates: map.csv in and out, and the design matrix."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import Candidates, Params, RapporError, positions
from dpest.rappor.candidates import write_map

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
SMALL = Params(16, 2, 4, 0.5, 0.25, 0.75)

names = st.lists(st.text(st.characters(codec="utf-8"), max_size=8), unique=True, max_size=8)


def _map(strings, params, scheme="dpest"):
    out = io.StringIO()
    write_map(strings, params, out, scheme)
    return out.getvalue()


def test_google_maps():
    generated = VECTORS["python"]["generated"]
    rows = VECTORS["python"]["from_tests"]["hash_candidates"]["csv_rows"]
    assert _map(["apple", "banana", "carrot"], SMALL, "google-python").splitlines() == rows
    assert rows == generated["map_k16_h2_m4"]
    params = Params(32, 1, 64, 0.5, 0.25, 0.75)
    words = [row.split(",")[0] for row in generated["map_k32_h1_m64"]]
    assert _map(words, params, "google-python").splitlines() == generated["map_k32_h1_m64"]


@given(names)
def test_any_string_survives_a_map(tmp_path_factory, strings):
    path = tmp_path_factory.mktemp("maps") / "map.csv"
    written = Candidates.hashed(strings, SMALL)
    written.write(path)
    found = Candidates.read(path, SMALL)
    assert found.strings == tuple(strings)
    assert np.array_equal(found.positions, written.positions)
    assert path.read_bytes().decode() == _map(strings, SMALL)


def test_the_design_matrix_says_which_bits_are_set():
    strings = [f"v{i}" for i in range(40)]
    design = Candidates.hashed(strings, SMALL).design(SMALL)
    expected = np.zeros((4 * 16, 40), dtype=int)
    for column, string in enumerate(strings):
        for cohort in range(4):
            for bit in positions(string, cohort, SMALL):
                expected[cohort * 16 + bit, column] = 1
    assert design.format == "csc"
    assert design.dtype.kind == "i"
    assert (design.toarray() == expected).all()


def test_blanks_and_repeated_bits():
    params = Params(8, 2, 2, 0.5, 0.25, 0.75)
    text = 'plain,1,2,9,10\n"a ""quoted"", one",3,3,,16\n\nnone,,,,\n'
    path_free = Candidates._parse(io.StringIO(text), params, "map.csv")
    assert path_free.strings == ("plain", 'a "quoted", one', "none")
    columns = path_free.design(params).toarray().T
    assert [list(np.flatnonzero(column)) for column in columns] == [[0, 1, 8, 9], [2, 15], []]
    out = io.StringIO()
    path_free.write(out)
    assert out.getvalue() == text.replace("\n\n", "\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,1,2,3\n", "line 1: 3 bits where h \\* m = 4 were expected"),
        ("a,1,2,9,10\nb,1,2,9,17\n", "line 2: bits must lie between 1 and 16"),
        ("a,0,2,9,10\n", "line 1: bits must lie between 1 and 16"),
        ("a, -1,2,9,10\n", "line 1: bits must lie between 1 and 16"),
        ("a,1,2,x,10\n", "line 1: bits must be whole numbers or blank"),
        ("a,1,2,9,10\na,1,2,9,10\n", "candidate 'a' appears twice"),
    ],
)
def test_a_bad_map_is_refused(tmp_path, text, words):
    path = tmp_path / "map.csv"
    path.write_text(text)
    with pytest.raises(RapporError, match=words):
        Candidates.read(path, Params(8, 2, 2, 0.5, 0.25, 0.75))


def test_a_map_of_other_parameters_is_refused():
    candidates = Candidates.hashed(["a", "b"], SMALL)
    with pytest.raises(RapporError, match="belongs to other parameters"):
        candidates.design(Params(8, 2, 4, 0.5, 0.25, 0.75))


def test_fixed_values_are_bits_of_their_own():
    params = Params(4, 1, 2, 0.5, 0.25, 0.75)
    candidates = Candidates.fixed(["red", "green", "blue"], params)
    expected = np.zeros((8, 3), dtype=int)
    expected[[0, 1, 2, 4, 5, 6], [0, 1, 2, 0, 1, 2]] = 1
    assert (candidates.design(params).toarray() == expected).all()
    with pytest.raises(RapporError, match="5 values do not fit k=4 bits"):
        Candidates.fixed("abcde", params)


def test_fixed_values_fit_a_map_with_several_hashes(tmp_path):
    params = Params(8, 3, 2, 0.5, 0.25, 0.75)
    candidates = Candidates.fixed(["red", "green"], params)
    candidates.write(tmp_path / "map.csv")
    read = Candidates.read(tmp_path / "map.csv", params)
    assert read.strings == candidates.strings
    assert np.flatnonzero(read.design(params).toarray()[:, 1]).tolist() == [1, 9]


def test_many_blank_lines_end_no_map(tmp_path):
    lines = ["a,1,9", *[""] * 5000, "b,2,10"]
    (tmp_path / "map.csv").write_text("\n".join(lines) + "\n")
    assert Candidates.read(tmp_path / "map.csv", Params(8, 1, 2, 0.5, 0.25, 0.75)).strings == (
        "a",
        "b",
    )


def test_a_subset_keeps_its_bits():
    candidates = Candidates.hashed([f"v{i}" for i in range(9)], SMALL)
    few = candidates.subset([7, 2])
    assert few.strings == ("v7", "v2")
    assert (few.positions == candidates.positions[[7, 2]]).all()


def test_no_candidates_at_all():
    assert Candidates.hashed([], SMALL).design(SMALL).shape == (64, 0)
