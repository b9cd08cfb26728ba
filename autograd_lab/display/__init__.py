"""Pictures of tapes: snapshots as plain data, and their bodies in text, SVG and HTML."""
