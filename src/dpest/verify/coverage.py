"""Whether the paths are seen to be disjoint and to cover everything.

Every condition is an answer to a question: which of two lines is larger, or which line of a group
is the largest. If the paths form a decision tree over such questions, each input and noise takes
exactly one of them; answers that contradict each other (a > b, b > c, c > a) need no path. Where
the paths do not (because a branch that cannot happen was left out), it has to be assumed.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpest.verify.model import Model, Path

Question = tuple[int, int, int]
Answers = dict[Question, int]
MAX_STEPS = 2_000_000
PROVED, ASSUMED = "decision tree", "assumed"


def coverage(model: Model) -> str:
    """PROVED or ASSUMED."""
    answers = []
    for path in model.paths:
        found = _answers(model, path)
        if found is None:
            return ASSUMED
        answers.append(found)
    return PROVED if _is_tree(model, answers) else ASSUMED


def _answers(model: Model, path: Path) -> Answers | None:
    """The path's answers, with those that follow from them; None where they contradict."""
    result: Answers = {}
    for p in path.parts:
        for question, answer in _given(model, p):
            if result.setdefault(question, answer) != answer:
                return None
    return result


def _given(model: Model, p: int) -> Iterator[tuple[Question, int]]:
    part = model.parts[p]
    for left, right, strict in part.when:
        low, high = min(left, right), max(left, right)
        at_least, above = (low, high, 0), (low, high, 1)
        if left == low:
            yield at_least, 1
            if strict:
                yield above, 1
        else:
            yield above, 0
            if strict:
                yield at_least, 0
    for winner, group in part.beats:
        yield (-1, group, 0), winner


def _is_tree(model: Model, paths: list[Answers]) -> bool:
    pending: list[tuple[list[Answers], Answers]] = [(paths, {})]
    steps = 0
    while pending:
        left, known = pending.pop()
        steps += len(left)
        if not left or steps > MAX_STEPS:
            return False
        order = _Order(known)
        question = _open_question(left, known)
        if question is None:
            if not all(_Order({**known, **other}).is_circular for other in left[1:]):
                return False
            continue
        for answer in _possible(model, question, known, order):
            inside = [a for a in left if a.get(question, answer) == answer]
            pending.append((inside, {**known, question: answer}))
    return True


def _open_question(left: list[Answers], known: Answers) -> Question | None:
    """The open question of the first path that most of the others answer too."""
    found = [question for question in left[0] if question not in known]
    return max(found, key=lambda q: sum(q in other for other in left), default=None)


def _possible(model: Model, question: Question, known: Answers, order: _Order) -> tuple[int, ...]:
    """The answers that those given so far leave."""
    first, second, kind = question
    if first == -1:
        return model.groups[second]
    other = known.get((first, second, 1 - kind))
    if other is not None and other != kind:
        return (1 - kind,)
    return tuple(answer for answer in (0, 1) if not order.contradicts(*_said(question, answer)))


def _said(question: Question, answer: int) -> tuple[int, int, bool]:
    """(upper, lower, strict): what the answer says about two lines."""
    low, high, kind = question
    return (low, high, kind == 1) if answer else (high, low, kind == 0)


class _Order:
    """What follows from answers one after another: a > b and b > c say a > c."""

    def __init__(self, known: Answers) -> None:
        self._below: dict[int, dict[int, bool]] = {}
        said = [_said(q, answer) for q, answer in known.items() if q[0] != -1]
        for upper, lower, strict in said:
            below = self._below.setdefault(upper, {})
            below[lower] = strict or below.get(lower, False)

    def contradicts(self, upper: int, lower: int, strict: bool) -> bool:
        """Whether the lower line is known to be above the upper one, or not below where strict."""
        found = self._under(lower).get(upper)
        return found is not None and (found or strict)

    @property
    def is_circular(self) -> bool:
        """Whether a line would be above itself."""
        return any(self._under(line).get(line, False) for line in self._below)

    def _under(self, start: int) -> dict[int, bool]:
        """The lines that are not above the start, and whether they are below it."""
        found: dict[int, bool] = {}
        pending = [(start, False)]
        while pending:
            line, strict = pending.pop()
            for lower, step in self._below.get(line, {}).items():
                under = strict or step
                if lower not in found or (under and not found[lower]):
                    found[lower] = under
                    pending.append((lower, under))
        return found
