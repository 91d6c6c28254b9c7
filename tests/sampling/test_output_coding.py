"""Outputs of every shape become kinds and numbers, alike in every block."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.engines.blackbox.coding import Raised, coded
from dpest.engines.blackbox.features import fitted
from dpest.engines.blackbox.low_bits import lowest_bit
from dpest.engines.blackbox.outputs import Kind, Outputs, concatenated

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=3),
    st.builds(Raised, st.sampled_from(["ValueError", "KeyError"]), st.text(max_size=3)),
)
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


def canonical(value):
    """What must be told apart: types matter, NaN equals NaN, messages of exceptions do not."""
    if isinstance(value, list):
        return ("list", *map(canonical, value))
    if isinstance(value, Raised):
        return ("raised", value.type_name)
    if isinstance(value, float) and math.isnan(value):
        return ("nan",)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ("number", value)
    return (type(value).__name__, value)


@given(VALUES, VALUES)
def test_outputs_have_equal_keys_exactly_when_they_are_the_same(a, b):
    width = 40
    key_a, key_b = (coded([v], 1).keys(width)[0] for v in (a, b))
    assert (key_a == key_b) == (canonical(a) == canonical(b))


@given(st.lists(VALUES, min_size=1, max_size=6), st.lists(VALUES, min_size=1, max_size=6))
def test_blocks_fit_together(a, b):
    whole = coded(a + b, len(a) + len(b))
    joined = concatenated([coded(a, len(a)), coded(b, len(b))])
    assert whole.keys(40).tolist() == joined.keys(40).tolist()


@given(st.lists(VALUES, min_size=2, max_size=12))
def test_features_can_be_computed_for_any_outputs(values):
    outputs = coded(values, len(values))
    features = fitted(outputs, outputs)
    if features.names(outputs):
        table = features.table(outputs)
        assert table.shape == (len(values), len(features.names(outputs)))
        for j in range(table.shape[1]):
            assert np.array_equal(features.column(outputs, j), table[:, j], equal_nan=True)


def test_an_array_is_coded_without_a_loop_over_entries():
    outputs = coded(np.array([[1.0, np.nan], [np.inf, -np.inf]]), 2)
    assert outputs.kinds.tolist() == [[Kind.NUMBER, Kind.NAN], [Kind.INF, Kind.NEG_INF]]
    assert coded(np.array([True, False]), 2).kinds.ravel().tolist() == [Kind.TRUE, Kind.FALSE]


def test_a_scalar_and_a_list_of_one_differ():
    assert coded([3.0, [3.0]], 2).keys(2)[0] != coded([3.0, [3.0]], 2).keys(2)[1]


def test_integers_beyond_doubles_stay_apart():
    near = [2**53, 2**53 + 1, -(2**53) - 1]
    as_list, as_array = coded(near, 3), coded(np.array(near), 3)
    assert len(set(as_list.keys(1).tolist())) == 3
    assert as_list.keys(1).tolist() == as_array.keys(1).tolist()
    assert coded([*near, None], 4).keys(1)[:3].tolist() == as_list.keys(1).tolist()


def test_nested_outputs_are_spelled_as_python_writes_them():
    assert coded([[1, [2.5, []], True]], 1).spelled(0) == "[1, [2.5, []], True]"


def test_outputs_are_spelled_for_people():
    outputs = coded([[1.5, None, "yes"], "no", Raised("KeyError", "x")], 3)
    spelled = [outputs.spelled(i) for i in range(3)]
    assert spelled == ["[1.5, None, 'yes']", "'no'", "raises KeyError"]


def test_very_long_outputs_are_folded():
    long = coded([list(range(5000)), list(range(4999))], 2)
    assert isinstance(long, Outputs)
    assert long.width < 600
    assert long.keys(long.width)[0] != long.keys(long.width)[1]


@pytest.mark.parametrize(
    ("returned", "words"), [(np.zeros(3), "returned 3"), (7.0, "one output per run")]
)
def test_a_wrong_number_of_outputs_is_named(returned, words):
    with pytest.raises((ValueError, TypeError), match=words):
        coded(returned, 5)


@given(st.integers(-(2**53), 2**53), st.integers(-300, 300))
def test_lowest_bit(mantissa, exponent):
    found = float(lowest_bit(np.array([math.ldexp(mantissa, exponent)]))[0])
    if mantissa:
        trailing = (mantissa & -mantissa).bit_length() - 1
        assert found == exponent + trailing
    else:
        assert found > 1100
