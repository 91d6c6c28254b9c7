"""What an audit found, for people and for machines."""

from dpest.report.result import Report

__all__ = ["Report"]
