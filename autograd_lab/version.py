"""The version, in one place: the build reads it from here, and so do the package and the command line."""

__version__ = "0.1.0"
