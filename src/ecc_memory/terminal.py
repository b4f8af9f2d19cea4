"""What may reach a terminal: text with every control sequence and direction trick taken out.

The grammar of escape sequences is that of ECMA-48 (5th edition, sections 5.4 and 5.6), in the
7-bit and in the 8-bit (C1) form; string sequences also end at BEL, as xterm lets them.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    # OSC, DCS, SOS, PM and APC strings: up to BEL, ST or the end of the text
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]).*?(?:\x07|\x1b\\|\x9c|\Z)"
    # CSI: parameters, intermediates, final byte; a cut-off one goes too
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # every other escape sequence
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTION}]")
_LINE_END = re.compile("[\n\u2028\u2029]+")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f\ud800-\udfff{_DIRECTION}]")


def safe(text: str) -> str:
    """Return ``text`` as it may be shown: no escape sequence, no control but tab and LF.

    Dropped are CSI, OSC, DCS, SOS, PM, APC and other escape sequences in both forms, the
    remaining controls, and the marks that reorder text (U+061C, U+200E, U+200F,
    U+202A..U+202E, U+2066..U+2069). Joiners stay, emoji need them.
    """
    return _CONTROL.sub("", _SEQUENCE.sub("", text))


def safe_line(text: str) -> str:
    """Return :func:`safe` text that cannot leave its line: line ends become one space."""
    return _LINE_END.sub(" ", safe(text))


def safe_json(text: str) -> str:
    """Return serialised JSON with what :func:`safe` would drop written as ``\\uXXXX`` instead.

    The value a program reads is exactly the same; only the spelling is harmless to look at.
    ``text`` comes from :func:`json.dumps`, so C0 controls are escaped already.
    """
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
