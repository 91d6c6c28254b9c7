"""The pytest plugin: @pytest.mark.private, --dpest-budget, remembered results, a summary.

pytest loads it by itself. It imports nothing heavy until a privacy check runs.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import dpest
from dpest.testing import session

if TYPE_CHECKING:
    from dpest.testing.check import Check, Outcome

MARKER = """\
private(inputs, neighbors, epsilon=None, *, claim=None): the test function f(x, rng) is a \
mechanism; it passes where dpest shows that what it returns is as private as claimed"""
_PROPERTY = "dpest"
_USAGE = """\
A test marked private is itself the mechanism: dpest gives it the input and the generator, and what
it returns is what is released. Write

    @pytest.mark.private(...)
    def {name}(x, rng):
        return your_mechanism(x, rng)"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """--dpest-budget, also as dpest_budget in the configuration file."""
    text = "stop every privacy check after this many seconds; it then fails as undecided"
    parser.getgroup("dpest").addoption("--dpest-budget", metavar="SECONDS", help=text)
    parser.addini("dpest_budget", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and take over the decisions of the session."""
    config.addinivalue_line("markers", MARKER)
    plugin = _Plugin(config)
    config.pluginmanager.register(plugin, "dpest-session")


class _Plugin:
    """The checks of one run of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self.cache = getattr(config, "cache", None)
        self.item: pytest.Item | None = None
        self.asked = 0
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.session = session.Session(_budget(config), self._store, self._observe)
        session.begin(self.session)

    def pytest_unconfigure(self) -> None:
        session.end(self.session)

    # -- while a test runs ------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.item, self.asked = item, 0
        try:
            return (yield)
        finally:
            self.item = None

    def _store(self) -> _Store | None:
        """Every check of every test has a place of its own."""
        if self.cache is None or self.item is None:
            return None
        self.asked += 1
        return _Store(self.cache, f"{self.item.nodeid}#{self.asked}")

    def _observe(self, check: Check, outcome: Outcome) -> None:
        if self.item is not None:
            self.item.user_properties.append((_PROPERTY, _told(check, outcome)))

    # -- marked tests -----------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """The first two parameters of a marked test are no fixtures."""
        if next(metafunc.definition.iter_markers("private"), None) is None:
            return
        names = _parameters(metafunc.function, metafunc.cls)[:2]
        if len(names) == 2:
            hidden = getattr(pytest, "HIDDEN_PARAM", "private")
            metafunc.parametrize(names, [(None, None)], ids=[hidden])

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """A marked test passes where every claim made about it holds."""
        markers = list(pyfuncitem.iter_markers("private"))
        if not markers:
            return None
        mechanism = _mechanism(pyfuncitem)
        for marker in markers:
            _check(mechanism, marker)
        return True

    # -- the summary ------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """With pytest-xdist, this runs where the summary is printed."""
        if report.when == "teardown":
            properties: list[tuple[str, Any]] = report.user_properties
            found = [told for name, told in properties if name == _PROPERTY]
            self.seen += [(report.nodeid, told) for told in found]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.seen:
            terminalreporter.section("privacy")
            for line in _summary(self.seen):
                terminalreporter.write_line(line)


class _Store:
    """A place in pytest's cache."""

    def __init__(self, cache: pytest.Cache, place: str) -> None:
        self.cache = cache
        self.key = f"dpest/{hashlib.sha256(place.encode()).hexdigest()[:32]}"

    def get(self) -> Any:
        return self.cache.get(self.key, None)

    def set(self, data: Any) -> None:
        self.cache.set(self.key, data)


def _budget(config: pytest.Config) -> float | None:
    text = config.getoption("--dpest-budget") or config.getini("dpest_budget")
    if not text:
        return None
    import multiprocessing

    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise pytest.UsageError(f"--dpest-budget is a number of seconds above 0, got {text!r}")
    if "fork" not in multiprocessing.get_all_start_methods():
        raise pytest.UsageError("--dpest-budget needs a system with fork, such as Linux or macOS")
    return seconds


def _parameters(function: Any, cls: type | None) -> list[str]:
    """The names of the parameters, without the object of a method."""
    names = list(inspect.signature(function).parameters)
    static = cls is not None and isinstance(
        inspect.getattr_static(cls, function.__name__, None), staticmethod
    )
    return names[1:] if cls is not None and not static else names


def _mechanism(item: pytest.Function) -> Any:
    """The test function; its parameters after the first two are filled by pytest."""
    names = list(inspect.signature(item.obj).parameters)
    if len(names) < 2:
        pytest.fail(_USAGE.format(name=item.originalname), pytrace=False)
    rest = {name: item.funcargs[name] for name in names[2:] if name in item.funcargs}
    return functools.partial(item.obj, **rest) if rest else item.obj


def _check(mechanism: Any, marker: pytest.Mark) -> None:
    failure = _misuse(marker) or _failure(mechanism, marker)
    if failure:
        pytest.fail(failure, pytrace=False)


def _misuse(marker: pytest.Mark) -> str:
    """What is wrong with the arguments of the marker."""
    try:
        inspect.signature(dpest.assert_private).bind(None, *marker.args, **marker.kwargs)
    except TypeError as error:
        return f"@pytest.mark.private(inputs, neighbors, epsilon): {error}"
    return ""


def _failure(mechanism: Any, marker: pytest.Mark) -> str:
    """Why the claim is not shown to hold."""
    try:
        dpest.assert_private(mechanism, *marker.args, **marker.kwargs)
    except AssertionError as failure:
        return str(failure)
    return ""


def _told(check: Check, outcome: Outcome) -> dict[str, Any]:
    """What the summary needs to know, as plain data."""
    return {
        "mechanism": check.name, "verdict": outcome.verdict, "cached": outcome.cached,
        "claimed": check.claim.limit, "measured": outcome.measured.upper,
        "measure": check.claim.measure,
    }  # fmt: skip


def _summary(seen: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    from dpest.testing.summary import lines

    return lines(seen)
