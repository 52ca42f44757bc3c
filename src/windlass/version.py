"""The version of Windlass, in the one place that says it."""

VERSION = "0.1.0"
