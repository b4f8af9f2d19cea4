"""Cutting one line of a body that shows why it matched."""

from __future__ import annotations

import re

LENGTH = 240
LEAD = 60
# JavaScript's white space, as in document.trim().
_WHITE = re.compile(r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def flatten(body: str) -> str:
    """Collapse white space to single spaces and trim."""
    return _WHITE.sub(" ", body).strip(" ")


def cut(flat: str, at: int) -> str:
    """Return ``flat`` whole if short, else 240 characters of it that begin 60 before ``at``."""
    if len(flat) <= LENGTH:
        return flat
    start = max(0, at - LEAD)
    end = start + LENGTH
    return ("…" if start else "") + flat[start:end] + ("…" if end < len(flat) else "")
