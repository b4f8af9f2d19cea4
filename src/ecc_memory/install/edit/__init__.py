"""Editors of configuration files, one a format, each pure: bytes in, bytes out.

:mod:`.json`, :mod:`.toml` and :mod:`.yaml` set and delete one key or one list element;
:mod:`.markdown` keeps one marked block. All follow one rule: parse, locate, splice, parse again,
compare with the old value plus ours; on any difference refuse and return nothing. What stands
outside our own bytes is never rewritten.
"""
