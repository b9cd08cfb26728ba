"""Floor 3: the rows. One op, one row: forward, derivative rules, samples, reference, formula stand together."""

import importlib

MODULES = """
    compare elementwise shape index join reduce softmax matmul create triangles complex layout reductions diagonals arithmetic
    conversion assign indexing joining picking sorting scans einsum svd norms queries seeding
    boundary activation loss conv pool normalize embedding rnn resample
    fft linalg_solve linalg_decompose linalg_functions linalg_vectors linalg_factored linalg_packed spectrogram
    trigonometry special signs bits statistics products regions slopes strided polar sequences polynomials extrema selections
    masked windows
""".split()
"""The row modules, in an order that respects their imports of one another."""


def register():
    """Import every row module; importing one declares its rows."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
