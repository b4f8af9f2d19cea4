"""Judging the value a secret rule matched: a credential, or something that only stands where one would?

The rules of :mod:`ecc_memory.vault.secret_rules` match shapes. What has the shape and is no
credential is told apart here: placeholders of documentation, references to a secret kept elsewhere,
names in code, and the examples that vendors publish. There is no entropy test: it is what makes other
scanners take hashes for secrets.
"""

from __future__ import annotations

import re
from functools import cache

# Published in AWS's own documentation, https://docs.aws.amazon.com/IAM/latest/UserGuide/
PUBLISHED_EXAMPLES = frozenset(
    {
        "AKIAIOSFODNN7EXAMPLE",
        "AKIAI44QH8DHBEXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
    }
)

_FILLER = (
    r"[xX]{5}|\*{3}|\.{3}"
    r"|(?i:(?<![a-z0-9])(?:your|example|placeholder|redacted|changeme|replace)(?![a-z0-9]))"
)
_WORDS = r"[a-z]+(?:[_-][a-z]+){2,}|[A-Z]+(?:_[A-Z]+)+"
_REFERENCE = (
    r"[<{\[]|%[A-Z_(]|@\w+\(|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+[0-9]{0,2})$"  # <token>, %(x)s, $X
    r"|.*?(?:\$[{(]|\{\{|<[\w -]{1,40}>)"  # ${X}, $(cmd), {{ x }}, <token>, anywhere in the value
    r"|(?:arn|urn|env|op|vault|file|ssm|gcp|aws|data|ref\+\w{1,20}|sha\d{1,3}|md5):|[a-z][a-z0-9+.-]{1,20}://"
    r"|~/|\.{1,2}/|/?(?:[a-z0-9_.-]+/){2,}|/[a-z0-9_.-]+/?$"  # a path
    r"|(?:process|import\.meta|os|Deno|Bun)\.env|secrets\.|ENV\["
)
_TECHNICAL = (  # names in code and dates, whose digits do not make a value random
    r"(?i:oauth2?|auth0|base(?:32|58|64)|sha_?(?:1|224|256|384|512)|md5|[rhep]s(?:256|384|512)|ed25519|x509"
    r"|pbkdf2|argon2|utf8|http2|pkcs\d{1,2}|aes(?:128|256))"
    r"|(?:(?<=[_/-])|^)(?:v\d{1,2}|s3|ec2|k8s|i18n|(?:19|20)\d\d)(?=[_/-]|$)"
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]{0,15}Z?)?"
)
_URL_STAND_IN = (  # a variable, YOUR_PASSWORD, or the words user:pass@host that name the parts
    r"[^:]*:(?:\$|%[(s]|[A-Z_]*(?:PASS|PW|SECRET|TOKEN|KEY)[A-Z_]*@)"
    r"|(?i:user(?:name)?:pass(?:word)?@host(?:name)?)(?![\w.-])"
)
_HASH = r"[0-9a-fA-F]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_COMPLETE = (  # what needs no next line to be a value
    r"^(?i:none|null|nil|true|false|yes|no|unset|unknown|missing|empty|tbd|todo|rotated|revoked|hidden)$|"
) + _TECHNICAL
_LONGEST_REST = 40  # of a value whose first part is a word; longer lines are wrapped Base64


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def is_placeholder(value: str) -> bool:
    """Whether the value is what documentation writes in place of a secret."""
    return bool(_compiled(_FILLER).search(value) or _compiled(_WORDS).fullmatch(value))


def is_token(match: re.Match[str], seam: int | None) -> bool:
    """Judge a vendor's token; group 1, if the rule has one, is the part after the prefix.

    Args:
        match: what the rule matched.
        seam: where in ``match.string`` a line break was taken out, None if nothing was.
    """
    del seam
    return match[0] not in PUBLISHED_EXAMPLES and not is_placeholder(match[match.lastindex or 0])


def is_mixed_token(match: re.Match[str], seam: int | None) -> bool:
    """Judge a token whose form a run of words may have: it must hold letters and digits."""
    return is_token(match, seam) and _mixed(match[1])


def is_url_password(match: re.Match[str], seam: int | None) -> bool:
    """Judge ``://user:password@host``, groups 1 and 2; a port before a broken line is no password."""
    user, password = match[1], match[2]
    if is_placeholder(password) or _compiled(_URL_STAND_IN).match(match.string, match.start(1)):
        return False
    if seam is None:
        return True
    before = match.string[match.start(2) : seam]
    return "." not in user if seam <= match.end(1) else not before.isdigit()


def is_assigned_secret(match: re.Match[str], seam: int | None) -> bool:
    """Judge the value given to a secret-named variable: group ``quoted`` or ``bare``."""
    groups = match.groupdict()
    following = match.string[match.end() : match.end() + 2]
    quoted = groups.get("quoted")
    if seam is not None and groups.get("type") and match.start("type") < seam <= match.end("type"):
        return False
    if quoted:
        opening = match.string[match.start("quoted") - 1]
        closed = not following or (following[0] == opening and following[1:] != ":")  # "x": is a key
        return closed and is_literal(quoted)
    if _compiled(r"[(\[:=<]|\.\w|->").match(following):  # code: a call, an attribute, an assignment
        return False
    return (seam is None or _runs_over(match, seam, following)) and is_literal(groups["bare"])


def is_literal(value: str) -> bool:
    """Whether the value is a credential itself: letters and digits, no reference, path or name."""
    if value in PUBLISHED_EXAMPLES or is_placeholder(value) or _compiled(_REFERENCE).match(value):
        return False
    return _mixed(_compiled(_TECHNICAL).sub("", value))


def _mixed(value: str) -> bool:
    return bool(_compiled("[A-Za-z]").search(value) and _compiled("[0-9]").search(value))


def _runs_over(match: re.Match[str], seam: int, following: str) -> bool:
    """Whether an unquoted value crosses the broken line, rather than meets what stands below it."""
    start, end = match.span("bare")
    above, below = match.string[start:seam], match.string[max(seam, start) : end]
    if _compiled(_HASH).fullmatch(below):
        return False
    if not above:  # a colon that ends its line introduces what follows, it assigns nothing
        return match.string[match.start() : seam].rstrip(" *_")[-1:] != ":"
    if above in PUBLISHED_EXAMPLES or is_placeholder(above) or _compiled(_COMPLETE).search(above):
        return False
    if above.isalpha() and not (below.rstrip("=").isalnum() and len(below) <= _LONGEST_REST):
        return False
    return not following or following[0] in "\"'`;,&)"
