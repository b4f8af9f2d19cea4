"""The table of credential shapes: what each vendor publishes about the form of its tokens.

Rule names are those of gitleaks where it has the rule (https://github.com/gitleaks/gitleaks,
``config/gitleaks.toml``); the shapes are the vendors' prefixes and lengths, taken as minima so that a
longer token is caught too. A rule is tried only where one of its anchors, a literal, begins; no
repetition in a pattern is unbounded or ambiguous, so a try costs a bounded number of steps and a text
costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ecc_memory.vault.secret_values import (
    is_assigned_secret,
    is_mixed_token,
    is_token,
    is_url_password,
)

Judge = Callable[["re.Match[str]", "int | None"], bool]


@dataclass(frozen=True)
class Rule:
    """One shape.

    Attributes:
        id: the rule's stable name, shown to the user.
        anchors: literals, one of which is where a match begins. Lower case if ``loose``.
        pattern: the expression matched at an anchor; it may look back, and group 1 is what makes
            the token unique.
        judge: tells a credential from a look-alike; gets the match and where a line break was removed.
        loose: the shape may hold blanks, and its anchors count in either case.
    """

    id: str
    anchors: tuple[str, ...]
    pattern: str
    judge: Judge = is_token
    loose: bool = False


@cache
def matcher(pattern: str) -> Callable[..., re.Match[str] | None]:
    """A rule's ``match(text, position)``; compiled when first needed, since most never are."""
    return re.compile(pattern, re.ASCII).match


_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"  # a word begins, maybe after an escaped line break
_END = r"(?![A-Za-z0-9])"
_B62 = "[A-Za-z0-9]"
_B64URL = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"


def _token(id: str, prefixes: str, rest: str, judge: Judge = is_token) -> Rule:
    """A rule for tokens of the form prefix and rest; alternative prefixes are separated by blanks."""
    anchors = tuple(prefixes.split())
    alternatives = "|".join(map(re.escape, anchors))
    return Rule(id, anchors, f"{_START}(?:{alternatives})({rest})", judge)


_KEY_OWNERS = ("api", "access", "private", "account", "signing", "encryption", "auth", "master")
_OWNED_KEY = "(?:" + "|".join(f"(?<={owner})|(?<={owner}[_ -])" for owner in _KEY_OWNERS) + ")key"
_ASSIGNMENT = (  # name, its ending, quote, maybe a type, equals sign or colon, maybe bold, value
    rf"(?:(?i:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|{_OWNED_KEY})"
    r"(?i:[_-]?(?:access|key|base|value|string|prod|production|staging|dev|live|test|token|secret|[0-9])){0,3})"
    r"[\"'`*_\])\\]{0,3}[ \t]{0,8}"
    r"(?P<type>(?::[ \t]{0,2}&?[A-Za-z_][\w.\[\]]{0,20}|[ \t](?:string|String|str))[ \t]{0,2}(?=:?=))?"
    r"(?:=>|:=|={1,3}|:)[ \t]{0,8}(?:[*_]{1,2}[ \t]{0,4})?(?:[bBrRuUfF](?=[\"']))?\\?"
    r"(?:[\"'`](?P<quoted>[^\s\"'`]{16,512})|(?P<bare>[A-Za-z0-9+/][\w+/~!@#%^$-]{15,511}={0,2}))"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("-----begin",),
        r"-----BEGIN[A-Z0-9 +]{0,48}?PRIVATE[ +]?KEY(?:[ +]?BLOCK)?-----",
        loose=True,
    ),
    _token("age-secret-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _token("aws-access-token", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}" + _END),
    _token("aws-amazon-bedrock-api-key-long-lived", "ABSK", "[A-Za-z0-9+/]{109}"),
    _token("alibaba-access-key-id", "LTAI", _B62 + "{20}" + _END),
    _token("gcp-api-key", "AIza", _B64URL + "{35}"),
    _token("gcp-oauth-client-secret", "GOCSPX-", _B64URL + "{28}"),
    Rule("azure-ad-client-secret", ("Q~",), r"(?<=[0-9])Q~[A-Za-z0-9_~.-]{31,34}" + _END),
    _token("cloudflare-origin-ca-key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("digitalocean-pat", "dop_v1_", "[0-9a-f]{64}"),
    _token("digitalocean-access-token", "doo_v1_", "[0-9a-f]{64}"),
    _token("digitalocean-refresh-token", "dor_v1_", "[0-9a-f]{64}"),
    _token("flyio-access-token", "fo1_ fm1r_ fm1a_ fm2_", "[A-Za-z0-9_+/-]{43}"),
    _token("heroku-api-key-v2", "HRKU-AA", _B64URL + "{58}"),
    _token("anthropic-api-key", "sk-ant-", _B64URL + "{24}"),
    _token("openrouter-api-key", "sk-or-v1-", "[0-9a-f]{64}"),
    _token("openai-api-key", "sk-proj- sk-svcacct- sk-admin-", _B64URL + "{20}"),
    _token("openai-api-key", "sk-", _B62 + "{40}"),
    _token("openai-api-key", "sk-", _B62 + "{20,40}", is_mixed_token),
    _token("groq-api-key", "gsk_", _B62 + "{52}"),
    _token("xai-api-key", "xai-", "[A-Za-z0-9_]{80}"),
    _token("perplexity-api-key", "pplx-", _B62 + "{48}"),
    _token("replicate-api-token", "r8_", _B62 + "{37}"),
    _token("huggingface-access-token", "hf_", _B62 + "{34}"),
    _token("github-fine-grained-pat", "github_pat_", "[A-Za-z0-9_]{36}"),
    _token("github-pat", "ghp_", _B62 + "{36}"),
    _token("github-oauth", "gho_", _B62 + "{36}"),
    _token("github-app-token", "ghu_ ghs_", "[A-Za-z0-9_]{36}"),
    _token("github-refresh-token", "ghr_", _B62 + "{36}"),
    _token("gitlab-pat", "glpat-", _B64URL + "{20}"),
    _token("gitlab-deploy-token", "gldt-", _B64URL + "{20}"),
    _token("gitlab-ptt", "glptt-", "[0-9a-f]{40}"),
    _token("gitlab-runner-authentication-token", "glrt-", _B64URL + "{20}"),
    _token("gitlab-rrt", "GR1348941", _B64URL + "{20}"),
    _token("gitlab-cicd-job-token", "glcbt-", "[0-9A-Za-z]{1,5}_" + _B64URL + "{20}"),
    _token("slack-bot-token", "xoxb-", "[0-9A-Za-z-]{20,80}", is_mixed_token),
    _token("slack-user-token", "xoxp- xoxe-", "[0-9A-Za-z-]{28,80}", is_mixed_token),
    _token("slack-app-token", "xapp-", "[0-9]-[A-Z0-9]{5,20}-[0-9]{5,20}-[0-9a-z]{16}"),
    _token("slack-legacy-workspace-token", "xoxa- xoxr- xoxs-", "[0-9A-Za-z-]{20,80}", is_mixed_token),
    Rule(
        "slack-webhook-url",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/((?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80})",
    ),
    _token("stripe-access-token", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_", _B62 + "{16}"),
    _token("square-access-token", "sq0atp- sq0csp-", _B64URL + "{22}"),
    _token("shopify-access-token", "shpat_ shpca_ shppa_ shpss_", _HEX + "{32}"),
    _token("twilio-api-key", "SK", "[0-9a-f]{32}" + _END),
    _token("sendgrid-api-token", "SG.", _B64URL + "{16,32}[.]" + _B64URL + "{32}"),
    Rule("telegram-bot-api-token", (":AA",), r"(?<=[0-9]):AA([A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    _token("npm-access-token", "npm_", _B62 + "{36}"),
    _token("pypi-upload-token", "pypi-AgEI", _B64URL + "{50}"),
    _token("rubygems-api-token", "rubygems_", "[0-9a-f]{48}"),
    Rule("hashicorp-tf-api-token", (".atlasv1.",), r"(?<=[A-Za-z0-9])\.atlasv1\.([A-Za-z0-9_=-]{60})"),
    _token("vault-service-token", "hvs.", _B64URL + "{24}"),
    _token("vault-batch-token", "hvb.", _B64URL + "{24}"),
    _token("doppler-api-token", "dp.pt. dp.st. dp.ct. dp.sa.", "[A-Za-z0-9._-]{40}"),
    _token("databricks-api-token", "dapi", "[0-9a-f]{32}" + _END),
    _token("grafana-service-account-token", "glsa_", _B62 + "{32}_" + _HEX + "{8}"),
    _token("sentry-user-token", "sntryu_", "[0-9a-f]{64}"),
    _token("new-relic-user-api-key", "NRAK-", "[A-Za-z0-9]{27}"),
    _token("postman-api-token", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("linear-api-key", "lin_api_", _B62 + "{40}"),
    _token("notion-api-token", "ntn_", "[0-9]{11}" + _B62 + "{35}"),
    _token("atlassian-api-token", "ATATT3", "[A-Za-z0-9_=-]{56}"),
    Rule(
        "jwt",
        ("eyJ",),
        r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
        r"eyJ([A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{10})",
    ),
    Rule(
        "url-credentials",
        ("://",),
        r"(?<=[A-Za-z0-9+.-])://([^\s/?#@:\"'`<>()\[\]{}|\\,;]{0,64})"
        r":([^\s/@\"'`<>()\[\]{}|\\,;]{1,128})@(?=[\w\[$])(?!sha\d{1,3}:)",
        is_url_password,
        loose=True,
    ),
    Rule(
        "authorization-header",
        ("bearer", "authorization"),
        r"(?:(?i:authorization)[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?(?i:basic|bearer|token|apikey)[ \t]{0,4}"
        r"|(?<![A-Za-z])(?i:bearer)[ \t]{1,4})(?P<bare>[A-Za-z0-9+/][\w.~+/-]{15,511}={0,2})",
        is_assigned_secret,
        loose=True,
    ),
    Rule(
        "generic-api-key",
        ("passw", "passphrase", "pwd", "secret", "token", "credential", "key"),
        _ASSIGNMENT,
        is_assigned_secret,
        loose=True,
    ),
)
"""Every rule, the more specific before the more general: the first that matches names the hit."""
