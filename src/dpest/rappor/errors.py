"""The one exception that this subpackage raises for input it cannot use."""


class RapporError(ValueError):
    """A parameter, a file or a value that cannot be used, in one sentence that says what to do."""
