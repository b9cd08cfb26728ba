"""``utils``: loading data (``utils.data``)."""

from . import data

__all__ = ["data"]
