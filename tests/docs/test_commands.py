"""docs/commands.md says what every command's own help says.

`python tests/docs/test_commands.py` writes the page anew.
"""

import argparse
from pathlib import Path

import pytest

from dpest.cli.exits import EPILOG
from dpest.cli.program import COMMANDS, _parser

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = f"""# Commands

Every command and option of `dpest`, as `--help` words it. Errors are one line on standard error.

{EPILOG}
"""


def subcommands(parser):
    """The commands of a parser with their own parsers, and the summaries that help lists."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            summaries = {choice.dest: choice.help for choice in action._choices_actions}
            yield from ((name, summaries[name], sub) for name, sub in action.choices.items())


def commands():
    """Every command that does something, with its summary and its parser."""
    for name in [*COMMANDS, "rappor"]:
        found = {known: rest for known, *rest in subcommands(_parser([name]))}
        yield from leaves(f"dpest {name}", *found[name])


def leaves(name, summary, parser):
    below = list(subcommands(parser))
    if not below:
        yield name, summary, parser
    for child, text, sub in below:
        yield from leaves(f"{name} {child}", text, sub)


def arguments(parser):
    return [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]


def spelled(action):
    """The argument as it is typed."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else None
    value = action.metavar or choices or action.dest.upper()
    value = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{action.metavar or choices or action.dest}`"
    names = ", ".join(sorted(action.option_strings, key=len))
    return f"`{names}`" if action.nargs == 0 else f"`{names} {value}`"


def explained(action):
    """The help of an argument with its default, fit for a cell of a table."""
    text = (action.help or "") % {"default": action.default, "prog": "dpest"}
    return text.replace("|", r"\|")


def section(name, summary, parser):
    lines = [f"## {name}", "", f"{summary[0].upper()}{summary[1:].rstrip('.')}."]
    rows = [f"| {spelled(a)} | {explained(a)} |" for a in arguments(parser)]
    return "\n".join([*lines, *(["", "| argument | |", "|:--|:--|", *rows] if rows else []), ""])


def page():
    return "\n".join([HEAD, *(section(*command) for command in commands())])


def test_the_page_is_what_help_says():
    assert PAGE.read_text() == page(), "run `python tests/docs/test_commands.py`"


@pytest.mark.parametrize("command", list(commands()), ids=lambda command: command[0])
def test_every_command_and_argument_has_a_help_text(command):
    name, summary, parser = command
    assert summary
    unexplained = [action.dest for action in arguments(parser) if not action.help]
    assert not unexplained, f"{name}: {unexplained}"


if __name__ == "__main__":
    PAGE.write_text(page())
