"""Live views for JupyterLab: the Python side.

The front end is one ES module, `static/tape.js`, built from `widgets/` in the repository.
"""
