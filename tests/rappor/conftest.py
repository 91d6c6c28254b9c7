"""Property tests run the same examples every time and without a stopwatch."""

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
