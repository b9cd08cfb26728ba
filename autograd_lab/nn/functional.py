"""``nn.functional``: layers as functions, without state. The code stands by family in ``functions/``."""


__all__ = [name for name in dir() if not name.startswith("_") and name != "functions"]
