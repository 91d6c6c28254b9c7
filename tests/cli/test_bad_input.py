"""Bad input: one clear line, exit code 2, no traceback."""

import pytest

AUDIT = ("audit", "mechanisms.py::counts")
FULL = ("--inputs", "reals:2", "--neighbors", "linf:1")

CASES = {
    "no command": ((), "required: COMMAND"),
    "unknown command": (("frobnicate",), "invalid choice: 'frobnicate'"),
    "no mechanism": (("audit",), "MECHANISM, or --command PROGRAM"),
    "unknown mechanism": (("audit", "svt99"), "unknown mechanism 'svt99'"),
    "missing file": (("audit", "nowhere.py::f", *FULL), "no such file: nowhere.py"),
    "not a Python file": (("audit", "notes.txt::f", *FULL), "must end in .py"),
    "no such function": (("audit", "mechanisms.py::nope", *FULL), "no function 'nope'"),
    "not a function": (("audit", "mechanisms.py::value", *FULL), "it defines counts, one"),
    "syntax error": (("audit", "broken.py::f", *FULL), "broken.py:1: "),
    "failing import": (("audit", "needs.py::f", *FULL), "No module named"),
    "wrong arity": (("audit", "mechanisms.py::no_rng", *FULL), "cannot be called as no_rng(x, rng"),
    "unknown parameter": ((*AUDIT, *FULL, "--param", "esp=1"), "unexpected keyword argument 'esp'"),
    "parameter without value": ((*AUDIT, *FULL, "--param", "eps"), "must be NAME=VALUE, got 'eps'"),
    "parameter that is no number": ((*AUDIT, *FULL, "--param", "eps=ten"), "unsupported operand"),
    "parameter NaN": ((*AUDIT, *FULL, "--param", "eps=nan"), "finite positive scale"),
    "parameter zero": ((*AUDIT, *FULL, "--param", "eps=0"), "division by zero"),
    "scale zero": (("audit", "mechanisms.py::zero_scale", *FULL), "got scale=0"),
    "negative scale": (("audit", "mechanisms.py::negative_scale", *FULL), "got scale=-2.0"),
    "weights that do not sum to one": (("audit", "mechanisms.py::weights", *FULL), "sum to 1"),
    "probability above one": (("audit", "rappor", "--param", "f=1.5"), "between 0 and 1"),
    "index out of range": (("audit", "mechanisms.py::out_of_range", *FULL), "out of bounds"),
    "hidden randomness": (
        ("audit", "mechanisms.py::hidden", *FULL, "--engine", "analytic"), "does not come from rng",
    ),
    "not affine": (
        ("audit", "mechanisms.py::remainder", *FULL, "--engine", "proof"), "not affine",
    ),
    "two mechanisms": (("audit", "svt1", "--command", "cat"), "and one of them"),
    "command that is not there": (("audit", "--command", "./nowhere", *FULL), "no such program"),
    "engine of no kind": ((*AUDIT, *FULL, "--engine", "magic"), "engine='magic': give 'analytic'"),
    "too few samples": ((*AUDIT, *FULL, "--samples", "3"), "samples=3"),
    "samples that are no number": ((*AUDIT, *FULL, "--samples", "many"), "invalid whole number"),
    "confidence in percent": ((*AUDIT, *FULL, "--confidence", "95"), "confidence=95"),
    "negative seed": ((*AUDIT, *FULL, "--seed", "-1"), "seed=-1"),
    "no jobs": ((*AUDIT, *FULL, "--jobs", "0"), "jobs=0"),
    "no time": ((*AUDIT, *FULL, "--time-limit", "0"), "time_limit=0.0"),
    "cluster without an address": ((*AUDIT, *FULL, "--backend", "dask"), "scheduler=None"),
    "black box without bounds": (
        (*AUDIT, "--inputs", "reals:2", "--neighbors", "any_pair", "--engine", "blackbox"),
        "bound the domain",
    ),
    "black box that has to be read": (
        (*AUDIT, *FULL, "--low-bits", "--engine", "proof"), "a black box is only run",
    ),
    "no inputs": ((*AUDIT, "--neighbors", "l1:1"), "--inputs reals:10"),
    "no neighbors": ((*AUDIT, "--inputs", "reals:2"), "--neighbors linf:1"),
    "inputs of no kind": ((*AUDIT, "--inputs", "floats:2"), "--inputs must be reals:N"),
    "empty inputs": ((*AUDIT, "--inputs", "reals:0"), "whole number >= 1, got 0"),
    "inputs that are no number": ((*AUDIT, "--inputs", "reals:many"), "not a whole number: 'many'"),
    "bounds the wrong way": ((*AUDIT, "--inputs", "integers:1:5:0"), "needs low <= high"),
    "bounds that are NaN": ((*AUDIT, "--inputs", "reals:1:nan:1"), "needs low < high"),
    "a choice of one": ((*AUDIT, "--inputs", "one_of:a"), "at least two values"),
    "neighbors of no kind": ((*AUDIT, "--inputs", "reals:2", "--neighbors", "l7:1"), "got 'l7:1'"),
    "negative radius": ((*AUDIT, "--inputs", "reals:2", "--neighbors", "l1:-1"), "positive radius"),
    "neighbors that do not fit": (
        (*AUDIT, "--inputs", "one_of:a,b", "--neighbors", "l1:1"), "not a domain of numbers",
    ),
    "a radius below one step": (
        (*AUDIT, "--inputs", "integers:2:0:5", "--neighbors", "l1:0.5"), "no two different inputs",
    ),
    "pairs that are not JSON": (
        (*AUDIT, "--inputs", "reals:2", "--neighbors", "pairs:[[1"), "needs JSON",
    ),
    "no pairs": ((*AUDIT, "--inputs", "reals:2", "--neighbors", "pairs:[]"), "at least one pair"),
    "pairs of the wrong size": (
        (*AUDIT, "--inputs", "reals:3", "--neighbors", "pairs:[[1,1],[2,1]]"), "3 numbers, got 2",
    ),
    "infinite input": (
        (*AUDIT, "--inputs", "reals:2", "--neighbors", "pairs:[[1,1e999],[1,1]]"), "must be finite",
    ),
    "input outside the domain": (
        (*AUDIT, "--inputs", "reals:2:0:1", "--neighbors", "pairs:[[0,0],[0,2]]"), "outside reals",
    ),
    "claim that is no number": ((*AUDIT, *FULL, "--claim", "small"), "RHO or renyi:ALPHA:EPS, got"),
    "negative claim": ((*AUDIT, *FULL, "--claim", "-1"), "must be a number >= 0, got -1.0"),
    "claim NaN": ((*AUDIT, *FULL, "--claim", "nan"), "must be a number >= 0, got nan"),
    "unknown format": (("report", "--format", "xml"), "invalid choice: 'xml'"),
    "output in no directory": (("report", "--output", "no/such/x.md"), "no such directory"),
    "graph in no directory": (("graph", "svt1", "-o", "no/such/x.svg"), "no such directory"),
    "check of no file": (("check", "nowhere.json"), "No such file or directory: nowhere.json"),
    "check of no JSON": (("check", "notes.txt"), "notes.txt is not JSON"),
    "check of no proof": (("check", "null.json"), "null.json holds no proof"),
    "graph of a failing function": (
        ("graph", "mechanisms.py::out_of_range", "--inputs", "reals:2"), "py:23: IndexError: ",
    ),
    "explain of an unknown mechanism": (("explain", "svt99"), "unknown mechanism 'svt99'"),
    "explain without neighbors": (
        ("explain", "mechanisms.py::counts", "--inputs", "reals:2"), "--neighbors linf:1",
    ),
    "explain of a failing function": (
        ("explain", "mechanisms.py::out_of_range", *FULL), "py:23: IndexError: ",
    ),
    "diff of one": (("diff", "svt1"), "required: after"),
    "diff with an unknown mechanism": (("diff", "svt1", "svt99"), "unknown mechanism 'svt99'"),
    "diff without inputs": (
        ("diff", "mechanisms.py::counts", "mechanisms.py::one"), "--inputs reals:10",
    ),
    "diff on inputs that differ": (
        ("diff", "svt1", "noisy_hist1"), "reals(10) and reals(5) are registered",
    ),
    "diff with a failing side": (
        ("diff", "mechanisms.py::counts", "mechanisms.py::out_of_range", *FULL), "IndexError",
    ),
    "diff with a parameter that one side lacks": (
        ("diff", "mechanisms.py::counts", "mechanisms.py::coin", *FULL, "--param", "eps=1"),
        "unexpected keyword argument 'eps'",
    ),
    "diff with a claim that is no number": (
        ("diff", "svt1", "svt2", "--claim", "small"), "RHO or renyi:ALPHA:EPS, got",
    ),
    "graph without inputs": (("graph", "mechanisms.py::counts"), "--inputs reals:10"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), CASES.values(), ids=CASES.keys())
def test_one_line_and_exit_code_2(run, arguments, message):
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("dpest: ")
    assert result.err.count("\n") == 1
    assert message in result.err
    assert "Traceback" not in result.err
