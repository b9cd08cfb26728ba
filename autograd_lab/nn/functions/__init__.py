"""The functions of ``nn.functional``, by family; ``nn/functional.py`` brings them together under one name."""
