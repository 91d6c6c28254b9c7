"""Whether the paths are seen to be disjoint and to cover everything.

Every condition is an answer to a question: which of two lines is larger, or which line of a group
is the largest. If the paths form a decision tree over such questions, each input and noise takes
exactly one of them. Where they do not (because a branch that cannot happen was left out), it has
to be assumed.
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
    pending: list[tuple[list[Answers], dict[Question, int]]] = [(paths, {})]
    steps = 0
    while pending:
        left, known = pending.pop()
        steps += len(left)
        if not left or steps > MAX_STEPS:
            return False
        question = _open_question(left[0], known)
        if question is None:
            if len(left) > 1:
                return False
            continue
        for answer in _possible(model, question, known):
            inside = [a for a in left if a.get(question, answer) == answer]
            pending.append((inside, {**known, question: answer}))
    return True


def _open_question(answers: Answers, known: dict[Question, int]) -> Question | None:
    return next((question for question in answers if question not in known), None)


def _possible(model: Model, question: Question, known: dict[Question, int]) -> tuple[int, ...]:
    """The answers that those given so far leave."""
    first, second, kind = question
    if first == -1:
        return model.groups[second]
    other = known.get((first, second, 1 - kind))
    if other is not None and other != kind:
        return (1 - kind,)
    return (0, 1)
