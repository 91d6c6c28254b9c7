"""The parameters: what is accepted, what they mean, how they are written."""

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import Params, RapporError

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
GOOD = {"k": 16, "h": 2, "m": 4, "f": 0.5, "p": 0.25, "q": 0.75}

probabilities = st.floats(0, 1)
any_params = st.builds(
    Params,
    k=st.integers(8, 300),
    h=st.integers(1, 8),
    m=st.integers(1, 100),
    f=st.floats(0, 0.99),
    p=st.floats(0, 0.45),
    q=st.floats(0.55, 1),
)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("k", 0, "k=0 must be a whole number"),
        ("k", 2.5, "k=2.5 must be a whole number"),
        ("k", True, "k=True must be"),
        ("k", 1 << 21, "too wide"),
        ("h", 17, "h=17 hashes do not fit k=16"),
        ("m", -1, "m=-1 must be"),
        ("m", "4", "m='4' must be"),
        ("f", 1, "f=1 forgets every value"),
        ("f", 1.5, "f=1.5 must be a probability"),
        ("f", math.nan, "f=nan must be a probability"),
        ("p", "0.25", "p='0.25' must be a probability"),
        ("p", None, "p=None must be a probability"),
        ("p", 0.75, "p=0.75 equals q"),
        ("q", -0.1, "q=-0.1 must be a probability"),
        ("q", math.inf, "q=inf must be a probability"),
    ],
)
def test_a_wrong_parameter_is_named(field, value, words):
    with pytest.raises(RapporError, match=words):
        Params(**{**GOOD, field: value})


def test_the_error_is_a_value_error():
    assert issubclass(RapporError, ValueError)


@pytest.mark.parametrize("case", VECTORS["decode"]["privacy"])
def test_privacy_figures_agree_with_google(case):
    params = Params(**case["params"])
    for name, value in (("p_star", params.p_star), ("q_star", params.q_star)):
        assert value == pytest.approx(case.get(name, value))
    assert params.eps_1 == pytest.approx(case["e_1"], abs=1e-9)
    if params.f:
        assert params.eps_infinity == pytest.approx(case["e_inf"], abs=1e-9)
    (limit,) = (name for name in case if name.startswith("detection_freq"))
    reports = int(float(limit.split("_N")[1].split("_")[0]))
    assert params.detection_limit(reports, 0.05) == pytest.approx(case[limit], rel=1e-6)


def test_epsilon_after_many_reports_agrees_with_the_published_figures():
    case = VECTORS["decode"]["eps_after_R_reports_same_value"]
    params = Params(k=128, m=1, **case["params"])
    for reports, epsilon in case["R"].items():
        rounds = 10**12 if reports == "inf" else int(reports)
        assert params.epsilon_after(rounds) == pytest.approx(epsilon, abs=1e-4)
    assert params.epsilon_after(10**12) == pytest.approx(params.eps_infinity, abs=1e-12)


def _brute_force_epsilon(params, reports):
    """The largest log ratio over all sequences of reports of two bits that both change."""

    def likelihood(bit, sequence):
        return sum(
            (1 - params.f / 2 if kept == bit else params.f / 2)
            * math.prod(
                (params.q if kept else params.p) if answer else 1 - (params.q if kept else params.p)
                for answer in sequence
            )
            for kept in (0, 1)
        )

    sequences = list(itertools.product((0, 1), repeat=reports))
    ratios = [math.log(likelihood(1, s) / likelihood(0, s)) for s in sequences]
    return params.h * (max(ratios) - min(ratios))


@given(
    st.floats(0, 0.9),
    st.floats(0.05, 0.95),
    st.floats(0.05, 0.95),
    st.integers(1, 3),
    st.integers(1, 5),
)
def test_epsilon_is_the_largest_ratio_over_all_sequences(f, p, q, h, reports):
    if p == q:
        return
    params = Params(8, h, 1, f, p, q)
    expected = _brute_force_epsilon(params, reports)
    assert params.epsilon_after(reports) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_single_round_of_noise():
    assert Params.one_time(16, 2, 4, 0.5).is_one_time
    assert Params.one_time(16, 2, 4, 0.5).eps_1 == pytest.approx(2 * 2 * math.log(3))
    assert Params.basic_one_time(50, 0.5, 0.75).is_basic
    assert Params.basic_one_time(50, 0.5, 0.75).eps_infinity == math.inf
    assert Params.basic(50, 0.5, 0.5, 0.75).is_basic
    assert not Params(**GOOD).is_basic
    assert not Params(**GOOD).is_one_time
    assert Params(8, 1, 1, 0.0, 0.0, 1.0).eps_1 == math.inf


def test_google_clients_round_the_probabilities():
    params = Params(16, 2, 4, 0.3, 0.3, 0.8)
    assert params.effective("dpest") == params
    assert params.effective("google-python").f == 39 / 128
    assert params.effective("google-java").f == 38 / 128
    cpp = params.effective("google-cpp")
    assert (cpp.f, cpp.p, cpp.q) == (38 / 128, 76 / 256, 204 / 256)


@given(any_params)
def test_params_survive_both_formats(params):
    assert Params.from_csv(params.to_csv()) == params
    assert Params.from_json(params.to_json()) == params


def test_google_params_csv():
    texts = VECTORS["python"]["from_tests"]["params_csv"]
    assert Params.from_csv(texts["ok"]) == Params(k=32, h=2, m=64, f=0.6, p=0.5, q=0.75)
    for text in texts["errors"]:
        with pytest.raises(RapporError, match=r"params\.csv"):
            Params.from_csv(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must start with k,h,m,p,q,f"),
        ("k,h,m,p,q,f\n8,2,4,x,.5,.1\n", "p='x', which is not a number"),
        ("k,h,m,p,q,f\n8.5,2,4,.2,.5,.1\n", "k='8.5', which is not a number"),
        ("{}", "by name"),
        ("{", "not JSON"),
        ('{"k": 8, "h": 2, "m": 4, "p": 0.2, "q": 0.5, "f": 0.1, "g": 1}', "by name"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, words):
    path = tmp_path / "params"
    path.write_text(text)
    with pytest.raises(RapporError, match=words):
        Params.read(path)


def test_files_are_written_by_their_name(tmp_path):
    params = Params(**GOOD)
    for name, start in (("a.csv", "k,h,m"), ("a.json", "{")):
        params.write(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
        assert Params.read(tmp_path / name) == params
    with pytest.raises(RapporError, match="cannot read the parameters"):
        Params.read(tmp_path / "absent.csv")
