"""Arithmetic that does not lie: exact rationals, quadrature in log space, rigorous balls."""
