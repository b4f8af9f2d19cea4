"""ecc-memory: one vault of Markdown memories for every coding agent a person uses.

The public Python API is :mod:`ecc_memory.vault` and :mod:`ecc_memory.errors`;
:mod:`ecc_memory.testing` is for the authors of adapters. Everything else may change.
"""

__version__ = "0.1.0"
