"""The checker stands alone, reads files, and answers bad input in one sentence."""

import json
import subprocess
import sys

import pytest

from dpest.check import check
from dpest.evidence import Certificate
from dpest.verify.model import digest


def test_the_checker_imports_no_engine_solver_or_tracer():
    code = (
        "import sys, dpest.check\n"
        "bad = [m for m in sys.modules if m.startswith(('dpest.engines', 'dpest.trace', "
        "'dpest.program', 'dpest.noise', 'highspy', 'scipy', 'numpy'))]\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_file_a_mapping_and_a_certificate(proof_of, tmp_path):
    certificate = proof_of("svt 1").certificate
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(certificate.to_json()), "utf-8")
    for proof in (path, str(path), certificate, certificate.content):
        checked = check(proof)
        assert checked
        assert checked.upper == 0.1
        assert "The proof is right." in str(checked)


def test_a_certificate_that_states_less_than_it_proves(proof_of):
    content = proof_of("svt 1").certificate.content
    checked = check(Certificate(0.05, content))
    assert not checked
    assert "0.05" in str(checked)


@pytest.mark.parametrize("text", ["", "[1, 2]", "{"])
def test_files_that_are_no_proof(text, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(text, "utf-8")
    if text == "[1, 2]":
        assert not check(path)
    else:
        with pytest.raises(ValueError, match="not JSON"):
            check(path)


def test_bad_arguments():
    with pytest.raises(ValueError, match="cannot be read"):
        check("no/such/file.json")
    with pytest.raises(TypeError, match="got int"):
        check(3)


def test_sentences_name_lines_shifts_and_prices(proof_of):
    proof = proof_of("svt 1")
    text = "\n".join(proof.sentences)
    assert "laplace noise (line " in text
    assert "d[" in text
    assert "1/10" in text
    assert "No path costs more than 1/10" in text


def test_the_worst_direction_meets_the_bound(proof_of):
    for name in ("svt 1", "svt 3", "svt 4", "argmax", "max", "numerical svt", "svt 6", "histogram"):
        proof = proof_of(name)
        assert proof.worst.reached == pytest.approx(proof.upper, rel=1e-9), name
        assert max(map(abs, proof.worst.d)) == 1


def test_why_there_is_no_bound(proof_of):
    assert "upward" in proof_of("exponential max").reason
    assert "normal" in proof_of("gaussian").reason
    assert "without noise" in proof_of("an input as it is").reason


BIASED = "a coin with a bias that the input decides"
WRONG_FORMS = {
    "a radius of zero": ("bits", lambda c: c["neighbors"].update(radius="0")),
    "a number of endless digits": (
        "laplace", lambda c: c["program"]["noise"][0].update(scale="1" + "0" * 6000)
    ),
    "a truth value for a size": ("laplace", lambda c: c["program"]["inputs"].update(size=True)),
    "a pair of one": (
        "a branch on the input", lambda c: c["program"]["members"][0].update(pair=[0])
    ),
    "a program that is missing": (
        BIASED, lambda c: c["program"]["joined"][0].clear()
    ),
    "a path twice": (
        "argmax", lambda c: c["program"]["paths"].append(c["program"]["paths"][0])
    ),
    "no neighbours": ("laplace, far pair", lambda c: c["neighbors"].update(listed=[])),
    "a branch of no probability": (
        BIASED, lambda c: c["program"]["mixtures"][0].append([9, "0"])
    ),
    "a plan that promises too much": (
        BIASED, lambda c: [p.update(bound="1") for p in c["alignment"]["plans"]]
    ),
    "a coin that is opened twice": (
        "sampled number", lambda c: c["alignment"]["inputs"][0].update(coins=[0, 0])
    ),
    "noise that is no coin": (
        "sampled number", lambda c: c["alignment"]["inputs"][0].update(coins=[0, 1])
    ),
    "a choice that stays closed": (
        "sampled real numbers", lambda c: c["alignment"]["inputs"][0].update(coins=[], plan=[])
    ),
    "a choice that input and noise make": (
        "sampled real numbers",
        lambda c: c["program"]["choices"][0]["cells"][0].append([0, 2, True]),
    ),
    "cells that overlap": (
        "sampled real numbers", lambda c: c["program"]["choices"][0]["cells"][0].clear()
    ),
    "a branch that is handed on in part": (
        "sampled number", lambda c: c["alignment"]["inputs"][0].update(plan=[[0, 1, "1/2"]])
    ),
    "a branch that is handed on to itself": (
        "sampled number", lambda c: c["alignment"]["inputs"][0].update(plan=[[0, 0, "1"]])
    ),
    "a point outside": (
        "sampled real numbers", lambda c: c["alignment"]["tangent"].update(at=["1/3", "1/3", "2"])
    ),
    "tangents where units are counted": (
        "drawn without replacement",
        lambda c: c["alignment"].update(tangent={"slope": "1", "at": ["0"] * 5}),
    ),
    "a ratio that is too small": (
        "sampled number", lambda c: c["alignment"].update(bound="5/4")
    ),
    "a move without its shifts": ("sampled number", lambda c: c["alignment"]["shifts"].pop()),
    "shifts for no move": (
        "sampled number", lambda c: c["alignment"]["shifts"].append({"0": {"const": "1"}})
    ),
    "a clip from above to below": (
        "sampled after a clip", lambda c: c["program"].update(clip=["1", "0"])
    ),
    "a clip of one number": ("sampled after a clip", lambda c: c["program"].update(clip=["1"])),
    "a clip that is left out": ("sampled after a clip", lambda c: c["program"].update(clip=None)),
    "a wider clip": ("sampled after a clip", lambda c: c["program"].update(clip=["0", "2"])),
    "an input without a bound": (
        "sampled number", lambda c: c["program"]["inputs"].update(high=None)
    ),
    "an input that is another program elsewhere": (
        "a branch on the input",
        lambda c: c["program"]["members"][1]["program"]["noise"][0].update(scale="3"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FORMS)
def test_a_wrong_form_is_refused_in_a_sentence(name, proof_of):
    case, change = WRONG_FORMS[name]
    content = json.loads(json.dumps(dict(proof_of(case).certificate.content)))
    change(content)
    content["program_digest"] = digest(content["program"])
    content["digest"] = digest({k: v for k, v in content.items() if k != "digest"})
    checked = check(content)
    assert not checked
    assert checked.reasons[0]


@pytest.mark.parametrize(
    "place",
    [("program", "lines", 0, "const"), ("program", "noise", 0, "law"), ("neighbors", "radius")],
)
@pytest.mark.parametrize("junk", [[], {}])
def test_lists_in_place_of_texts_are_refused(place, junk, proof_of):
    content = json.loads(json.dumps(dict(proof_of("svt 1").certificate.content)))
    at = content
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = junk
    content["program_digest"] = digest(content["program"])
    content["digest"] = digest({k: v for k, v in content.items() if k != "digest"})
    assert not check(content)
