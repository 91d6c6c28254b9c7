"""A fingerprint of everything that the outcome of a check depends on.

It covers the code of the mechanism and of every function and class that the code names, with their
globals, defaults, closures and attributes by value, and the versions of everything else. Where
something cannot be seen into there is no fingerprint, and then nothing may be remembered.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import importlib.metadata
import sys
import sysconfig
import types
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import dpest


class Opaque(Exception):
    """Something that the outcome may depend on cannot be seen into."""


def fingerprint(*values: Any) -> str | None:
    """The same text for values that behave in the same way; None where nobody can tell."""
    reader = _Reader()
    try:
        return _hashed("check", _versions(), *map(reader.digest, values)).hex()
    except (Opaque, RecursionError):
        return None


_PURE = frozenset({
    "__future__", "abc", "bisect", "builtins", "cmath", "collections", "contextlib", "copy",
    "dataclasses", "decimal", "dpest", "enum", "fractions", "functools", "heapq", "itertools",
    "math", "numbers", "numpy", "operator", "re", "scipy", "statistics", "string", "typing",
})  # fmt: skip
"""Modules of others that depend on nothing but the arguments and their version."""
_REACHING_OUT = frozenset({
    "open", "exec", "eval", "compile", "globals", "locals", "vars", "getattr", "hash", "id",
    "__import__", "input", "__dict__", "__globals__", "__builtins__", "__code__",
    "__closure__",
})  # fmt: skip
"""Names that lead to what the code does not name."""
_NOT_BEHAVIOUR = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__",
    "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__",
    "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "pytestmark",
})  # fmt: skip
_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes, Fraction, Decimal, range)
_BASES = (object, tuple, list, dict, set, frozenset, int, float, complex, str, bytes)
_MOST_VALUES = 50_000
_DEPENDENCIES = ("numpy", "scipy", "highspy", "python-flint")
_OWN = str(Path(dpest.__file__).parent)
_STANDARD = tuple(sysconfig.get_path(key) for key in ("stdlib", "platstdlib"))


@functools.cache
def _versions() -> bytes:
    """Python, dpest as it is installed here, and what the engines compute with."""
    files = sorted(Path(_OWN).rglob("*.py"))
    installed = [f"{name} {importlib.metadata.version(name)}" for name in _DEPENDENCIES]
    texts = [sys.version, dpest.__version__, *installed]
    return _hashed("versions", repr(texts).encode(), *(path.read_bytes() for path in files))


class _Reader:
    """Reads values into digests; an object that is met again is named by its number."""

    def __init__(self) -> None:
        self._met: dict[Any, int] = {}
        self._alive: list[Any] = []

    def digest(self, value: Any) -> bytes:
        if type(value) in _PLAIN:
            return _hashed(type(value).__name__, repr(value).encode())
        if not isinstance(value, (tuple, frozenset, types.CodeType)):
            number = self._number(id(value), value)
            if number is not None:
                return _hashed("met", str(number).encode())
        read = next((read for kind, read in _READERS if isinstance(value, kind)), _Reader._other)
        return _hashed(type(value).__qualname__, *read(self, value))

    def _number(self, key: Any, value: Any) -> int | None:
        """Under which number it was met before."""
        known = self._met.get(key)
        if known is None:
            self._met[key] = len(self._met)
            self._alive.append(value)
            if len(self._met) > _MOST_VALUES:
                raise Opaque("too much depends on each other")
        return known

    # -- values -----------------------------------------------------------------------------------

    def _number_of_a_kind(self, value: Any) -> Iterator[bytes]:
        base = next(kind for kind in (int, float, complex, str, bytes) if isinstance(value, kind))
        yield base.__repr__(value).encode()
        yield from self._object(value)

    def _sequence(self, value: Iterable[Any]) -> Iterator[bytes]:
        yield from self._extended(value)
        yield from (self.digest(item) for item in value)

    def _set(self, value: Iterable[Any]) -> Iterator[bytes]:
        yield from self._extended(value)
        yield from sorted(_Reader().digest(item) for item in value)

    def _mapping(self, value: Any) -> Iterator[bytes]:
        yield from self._extended(value)
        for key, item in value.items():
            yield self.digest(key)
            yield self.digest(item)

    def _extended(self, value: Any) -> Iterator[bytes]:
        """Nothing for a built-in container; class and attributes of one that extends it."""
        if type(value).__module__ != "builtins":
            yield from self._object(value)

    def _array(self, value: Any) -> Iterator[bytes]:
        if type(value).__module__ != "numpy":
            raise Opaque(f"an array of type {type(value)}")
        yield repr((value.dtype, np.shape(value))).encode()
        yield self.digest(value.tolist()) if value.dtype.hasobject else value.tobytes()

    def _enum(self, value: enum.Enum) -> Iterator[bytes]:
        yield from map(self.digest, (type(value), value.name, value.value))

    def _other(self, value: Any) -> Iterator[bytes]:
        name = _public_name(value)
        yield from [name.encode()] if name is not None else self._object(value)

    def _object(self, value: Any) -> Iterator[bytes]:
        """An object by its class and its attributes."""
        cls = type(value)
        if not _is_readable(cls):
            raise Opaque(f"an object of type {cls.__qualname__}")
        yield self.digest(cls)
        slots = {name for base in cls.__mro__ for name in _slots(base)}
        state = dict(getattr(value, "__dict__", {}))
        state |= {name: getattr(value, name) for name in slots if hasattr(value, name)}
        for name in sorted(state):
            yield name.encode()
            yield self.digest(state[name])

    # -- code -------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> Iterator[bytes]:
        yield self.digest(function.__code__)
        yield self.digest((function.__defaults__, function.__kwdefaults__))
        yield from (self.digest(_content(cell)) for cell in function.__closure__ or ())
        attributes = vars(function)
        for name in sorted(attributes.keys() - _NOT_BEHAVIOUR):
            yield name.encode()
            yield self.digest(attributes[name])
        if not _is_of_others(function):
            yield from self._names(function)

    def _code(self, code: types.CodeType) -> Iterator[bytes]:
        yield code.co_code
        yield code.co_exceptiontable
        yield repr((
            code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
            code.co_filename, list(code.co_lines()),
        )).encode()  # fmt: skip
        yield from map(self.digest, code.co_consts)

    def _names(self, function: types.FunctionType) -> Iterator[bytes]:
        """What the names in the code stand for outside of it."""
        names = frozenset(_names_in(function.__code__))
        if found := names & _REACHING_OUT:
            raise Opaque(f"{function.__qualname__} uses {', '.join(sorted(found))}")
        for module in _imported_in(function.__code__):
            if not _is_pure(module):
                raise Opaque(f"{function.__qualname__} imports {module}")
        yield from self._members(function.__globals__, names)

    def _members(self, namespace: dict[str, Any], names: frozenset[str]) -> Iterator[bytes]:
        for name in sorted(names & namespace.keys()):
            value = namespace[name]
            yield name.encode()
            if isinstance(value, types.ModuleType):
                yield from self._module(value, names)
            else:
                yield self.digest(value)

    def _module(self, module: types.ModuleType, names: frozenset[str]) -> Iterator[bytes]:
        """A module by those of its members that the code may name."""
        yield module.__name__.encode()
        if _is_pure_module(module):
            yield from self._replaced(module, names)
        elif self._number((id(module), names), module) is None:
            if not _has_source(module):
                raise Opaque(f"the module {module.__name__} may depend on anything")
            yield from self._members(vars(module), names)

    def _replaced(self, module: types.ModuleType, names: frozenset[str]) -> Iterator[bytes]:
        """What somebody else put into a module of others."""
        for name in sorted(names & vars(module).keys()):
            value = vars(module)[name]
            if isinstance(value, types.FunctionType) and not _is_of_others(value):
                yield self.digest(value)

    def _module_itself(self, module: types.ModuleType) -> Iterator[bytes]:
        if not _is_pure_module(module):
            raise Opaque(f"the module {module.__name__} as a value")
        yield module.__name__.encode()

    def _builtin(self, function: Any) -> Iterator[bytes]:
        owner = function.__self__
        if isinstance(owner, types.ModuleType) and not _is_pure(owner.__name__.lstrip("_")):
            raise Opaque(f"{function.__qualname__} of {owner.__name__}")
        yield function.__qualname__.encode()
        yield owner.__name__.encode() if isinstance(owner, types.ModuleType) else self.digest(owner)

    def _field(self, value: Any) -> Iterator[bytes]:
        """A field of a named tuple, by its place."""
        yield repr(value.__reduce__()[1]).encode()

    def _of_a_class(self, value: Any) -> Iterator[bytes]:
        yield repr((value.__objclass__.__qualname__, value.__name__)).encode()

    def _method(self, method: types.MethodType) -> Iterator[bytes]:
        yield from map(self.digest, (method.__func__, method.__self__))

    def _partial(self, partial: functools.partial[Any]) -> Iterator[bytes]:
        yield from map(self.digest, (partial.func, partial.args, partial.keywords))

    def _wrapping(self, value: Any) -> Iterator[bytes]:
        yield self.digest(value.__wrapped__)

    def _property(self, value: property) -> Iterator[bytes]:
        yield from map(self.digest, (value.fget, value.fset, value.fdel))

    def _cached_property(self, value: functools.cached_property[Any]) -> Iterator[bytes]:
        yield self.digest(value.func)

    def _class(self, cls: type) -> Iterator[bytes]:
        """A class of the user's by its members and bases; others by name."""
        name = _public_name(cls)
        if name is not None:
            yield name.encode()
            return
        if not _is_readable(cls):
            raise Opaque(f"the class {cls.__qualname__}")
        for key in sorted(vars(cls).keys() - _NOT_BEHAVIOUR):
            yield key.encode()
            yield self.digest(vars(cls)[key])
        yield from map(self.digest, (*cls.__bases__, type(cls)))


_Read = Callable[[_Reader, Any], Iterator[bytes]]
_READERS: tuple[tuple[Any, _Read], ...] = (
    (enum.Enum, _Reader._enum),
    ((np.ndarray, np.generic), _Reader._array),
    ((tuple, list), _Reader._sequence),
    ((set, frozenset), _Reader._set),
    ((dict, types.MappingProxyType), _Reader._mapping),
    ((int, float, complex, str, bytes), _Reader._number_of_a_kind),
    (types.ModuleType, _Reader._module_itself),
    (types.FunctionType, _Reader._function),
    (types.CodeType, _Reader._code),
    (types.MethodType, _Reader._method),
    (types.BuiltinFunctionType, _Reader._builtin),
    ((types.WrapperDescriptorType, types.MethodDescriptorType, types.MemberDescriptorType,
      types.GetSetDescriptorType, types.ClassMethodDescriptorType), _Reader._of_a_class),
    (type(namedtuple("_", "field").field), _Reader._field),  # type: ignore[attr-defined]
    (functools.partial, _Reader._partial),
    ((staticmethod, classmethod, functools._lru_cache_wrapper), _Reader._wrapping),
    (property, _Reader._property),
    (functools.cached_property, _Reader._cached_property),
    (type, _Reader._class),
)  # fmt: skip
"""How a value of each kind is read; the first that fits."""


def _hashed(kind: str, *parts: bytes) -> bytes:
    total = hashlib.sha256(kind.encode())
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.digest()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Every name in the code; pytest's own, in the asserts that it rewrites, start with @."""
    for each in _codes(code):
        yield from (name for name in each.co_names if not name.startswith("@"))


def _imported_in(code: types.CodeType) -> Iterator[str]:
    """The modules that the code imports while it runs; with a dot before a relative one."""
    for each in _codes(code):
        steps = list(dis.get_instructions(each))
        for k, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                yield "." * (steps[k - 2].argval != 0) + str(step.argval)


def _is_pure(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _PURE


def _is_pure_module(module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return _is_pure(module.__name__) and (
        file is None or _is_standard(file) or _is_installed(file)
    )


def _is_of_others(function: types.FunctionType) -> bool:
    """Whether the code is that of a pure module, and not of something that it wraps."""
    file = function.__code__.co_filename
    home = function.__globals__.get("__name__")
    return _is_pure(home) and (_is_standard(file) or _is_installed(file))


def _is_standard(file: str) -> bool:
    return file.startswith(_STANDARD) and not _is_installed(file)


def _is_installed(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file or file.startswith(_OWN)


def _has_source(module: types.ModuleType | None) -> bool:
    """Whether it is Python code that somebody other than Python itself brings along."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and file.endswith(".py") and not _is_standard(file)


def _is_readable(cls: type) -> bool:
    """Whether the class and all its bases are written in Python, or are containers or numbers."""
    return all(base in _BASES or _is_python(base) for base in cls.__mro__)


def _is_python(cls: type) -> bool:
    module = sys.modules.get(cls.__module__)
    file = str(getattr(module, "__file__", ""))
    return _has_source(module) or (_is_pure(cls.__module__) and file.endswith(".py"))


def _public_name(value: Any) -> str | None:
    """The name under which a pure module offers this very object."""
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if not isinstance(module, str) or not isinstance(name, str) or not _is_pure(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None
