"""Privacy as a test: an assertion for any test runner; the pytest plugin builds on it."""
