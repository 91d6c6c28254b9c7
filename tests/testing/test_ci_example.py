"""The workflow that users copy: it is YAML, and it runs what this version offers."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOW = Path(__file__).parents[2] / "examples" / "github-actions.yml"


@pytest.fixture
def steps():
    workflow = yaml.safe_load(WORKFLOW.read_text())
    # YAML 1.1 reads the key `on` as true
    assert {"name", True, "jobs"} <= set(workflow)
    assert {"push", "pull_request"} == set(workflow[True])
    assert workflow["permissions"] == {"contents": "read"}
    return workflow["jobs"]["privacy"]["steps"]


def test_every_step_does_one_thing(steps):
    for step in steps:
        assert len({"uses", "run"} & set(step)) == 1
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v4"))


def test_it_installs_this_distribution_and_keeps_the_cache(steps):
    project = (WORKFLOW.parents[1] / "pyproject.toml").read_text()
    name = re.search(r'^name = "(.+)"', project, re.M)[1]
    assert any(name in step.get("run", "") for step in steps)
    (cache,) = [step["with"] for step in steps if "cache@" in step.get("uses", "")]
    assert cache["path"] == ".pytest_cache"
    assert cache["key"].startswith(cache["restore-keys"])


def test_its_command_is_understood(steps, pytester):
    (command,) = [step["run"] for step in steps if "-m pytest" in step.get("run", "")]
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest_inprocess(*command.split()[3:], "-pno:hypothesispytest")
    result.assert_outcomes(passed=1)


pytest_plugins = ["pytester"]
