"""From a program and its neighbours to evidence."""
