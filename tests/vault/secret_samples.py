"""Credentials, and what only looks like them, made at run time: no file here holds one."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator

LOWER_HEX = "0123456789abcdef"
BASE62 = string.ascii_letters + string.digits
BASE64URL = BASE62 + "-_"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

Recipe = Callable[[random.Random], str]


def run(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def mixed(rng: random.Random, alphabet: str, length: int) -> str:
    """A run that holds a letter and a digit, begins with a letter and ends with neither dash nor bar."""
    middle = run(rng, alphabet, length - 4)
    return rng.choice("abcdef") + "4" + middle + rng.choice("0123456789") + rng.choice("abcdef")


def prefixed(prefix: str, alphabet: str, length: int, suffix: str = "") -> Recipe:
    return lambda rng: prefix + mixed(rng, alphabet, length) + suffix


def hexed(prefix: str, *lengths: int, suffix: str = "") -> Recipe:
    return lambda rng: prefix + "-".join(mixed(rng, LOWER_HEX, n) for n in lengths) + suffix


def json_part(rng: random.Random, length: int) -> str:
    text = '{"alg":"HS256","n":"' + run(rng, BASE62, length) + '"}'
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def jwt(rng: random.Random) -> str:
    return ".".join([json_part(rng, 3), json_part(rng, 60), mixed(rng, BASE64URL, 43)])


def assigned(form: str) -> Recipe:
    return lambda rng: form.replace("@", mixed(rng, BASE62, rng.randint(16, 40)))


def digits(rng: random.Random, length: int) -> str:
    return "1" + run(rng, string.digits, length - 1)


def pem(kind: str) -> Recipe:
    return lambda _: f"-----BEGIN {kind}-----"


POSITIVE: dict[str, list[Recipe]] = {}


def _fill() -> None:
    """One line a recipe; the prefix stands apart from the length so that no scanner trips over it."""
    token, hexa = prefixed, hexed
    upper = string.ascii_uppercase + "234567"
    kinds = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")
    table: list[tuple[str, Recipe]] = [("private-key", pem(kind + "PRIVATE KEY")) for kind in kinds]
    table += [
        ("private-key", pem("PGP PRIVATE KEY BLOCK")),
        ("age-secret-key", lambda rng: "AGE-SECRET-KEY-1" + run(rng, CROCKFORD, 58)),
        ("aws-access-token", lambda rng: "AKIA" + run(rng, upper, 16)),
        ("aws-access-token", lambda rng: "ASIA" + run(rng, string.ascii_uppercase + string.digits, 16)),
        ("aws-amazon-bedrock-api-key-long-lived", token("ABSK", BASE62 + "+/", 110)),
        ("alibaba-access-key-id", token("LTAI", BASE62, 20)),
        ("gcp-api-key", token("AIza", BASE64URL, 35)),
        ("gcp-oauth-client-secret", token("GOCSPX-", BASE64URL, 28)),
        ("azure-ad-client-secret", lambda rng: run(rng, BASE62, 3) + "8Q~" + mixed(rng, BASE62 + "~.-", 34)),
        ("cloudflare-origin-ca-key", hexa("v1.0-", 24, 146)),
        ("digitalocean-pat", hexa("dop_v1_", 64)),
        ("digitalocean-access-token", hexa("doo_v1_", 64)),
        ("digitalocean-refresh-token", hexa("dor_v1_", 64)),
        ("flyio-access-token", token("fo1_", BASE64URL, 43)),
        ("flyio-access-token", token("fm2_", BASE62 + "+/", 120)),
        ("heroku-api-key-v2", token("HRKU-AA", BASE64URL, 58)),
        ("anthropic-api-key", token("sk-ant-api03-", BASE64URL, 93, "AA")),
        ("anthropic-api-key", token("sk-ant-admin01-", BASE64URL, 93, "AA")),
        ("openrouter-api-key", hexa("sk-or-v1-", 64)),
        ("openai-api-key", token("sk-proj-", BASE64URL, 74)),
        ("openai-api-key", lambda rng: "sk-" + mixed(rng, BASE62, 20) + "T3BlbkFJ" + mixed(rng, BASE62, 20)),
        ("openai-api-key", hexa("sk-", 32)),
        ("groq-api-key", token("gsk_", BASE62, 52)),
        ("xai-api-key", token("xai-", BASE62, 80)),
        ("perplexity-api-key", token("pplx-", BASE62, 48)),
        ("replicate-api-token", token("r8_", BASE62, 37)),
        ("huggingface-access-token", token("hf_", BASE62, 34)),
        ("huggingface-access-token", lambda rng: "hf_" + run(rng, string.ascii_letters, 34)),
        (
            "github-fine-grained-pat",
            lambda rng: "github_pat_" + mixed(rng, BASE62, 22) + "_" + mixed(rng, BASE62, 59),
        ),
        ("github-pat", token("ghp_", BASE62, 36)),
        ("github-oauth", token("gho_", BASE62, 36)),
        ("github-app-token", token("ghu_", BASE62, 36)),
        ("github-app-token", token("ghs_", BASE62, 36)),
        ("github-refresh-token", token("ghr_", BASE62, 36)),
        ("gitlab-pat", token("glpat-", BASE64URL, 20)),
        ("gitlab-deploy-token", token("gldt-", BASE64URL, 20)),
        ("gitlab-ptt", hexa("glptt-", 40)),
        ("gitlab-runner-authentication-token", token("glrt-", BASE64URL, 20)),
        ("gitlab-rrt", token("GR1348941", BASE64URL, 20)),
        ("gitlab-cicd-job-token", token("glcbt-64_", BASE64URL, 20)),
        (
            "slack-bot-token",
            lambda rng: f"xoxb-{digits(rng, 12)}-{digits(rng, 12)}-{mixed(rng, BASE62, 24)}",
        ),
        (
            "slack-user-token",
            lambda rng: (
                "xoxp-" + "".join(digits(rng, 12) + "-" for _ in range(3)) + mixed(rng, LOWER_HEX, 32)
            ),
        ),
        (
            "slack-app-token",
            lambda rng: f"xapp-1-A{run(rng, upper, 10)}-{digits(rng, 13)}-{mixed(rng, LOWER_HEX, 64)}",
        ),
        (
            "slack-legacy-workspace-token",
            lambda rng: f"xoxs-{digits(rng, 11)}-{digits(rng, 11)}-{mixed(rng, LOWER_HEX, 10)}",
        ),
        (
            "slack-webhook-url",
            lambda rng: (
                f"https://hooks.slack.com/{'services'}/T{run(rng, upper, 10)}/B{run(rng, upper, 10)}/"
                f"{mixed(rng, BASE62, 24)}"
            ),
        ),
        ("stripe-access-token", token("sk_live_", BASE62, 24)),
        ("stripe-access-token", token("rk_test_", BASE62, 99)),
        ("square-access-token", token("sq0atp-", BASE64URL, 22)),
        ("shopify-access-token", hexa("shpat_", 32)),
        ("twilio-api-key", hexa("SK", 32)),
        (
            "sendgrid-api-token",
            lambda rng: f"SG.{mixed(rng, BASE64URL, 22)}.{mixed(rng, BASE64URL, 43)}",
        ),
        ("telegram-bot-api-token", lambda rng: f"{digits(rng, 10)}:AA{mixed(rng, BASE64URL, 33)}"),
        ("npm-access-token", token("npm_", BASE62, 36)),
        ("pypi-upload-token", token("pypi-AgEIcHlwaS5vcmc", BASE64URL, 120)),
        ("rubygems-api-token", hexa("rubygems_", 48)),
        ("hashicorp-tf-api-token", lambda rng: mixed(rng, BASE62, 14) + ".atlasv1." + mixed(rng, BASE62, 67)),
        ("vault-service-token", token("hvs.", BASE64URL, 95)),
        ("vault-batch-token", token("hvb.", BASE64URL, 150)),
        ("doppler-api-token", token("dp.pt.", BASE62, 43)),
        ("databricks-api-token", hexa("dapi", 32)),
        (
            "grafana-service-account-token",
            lambda rng: f"glsa_{mixed(rng, BASE62, 32)}_{mixed(rng, LOWER_HEX, 8)}",
        ),
        ("sentry-user-token", hexa("sntryu_", 64)),
        ("new-relic-user-api-key", token("NRAK-", CROCKFORD, 27)),
        ("postman-api-token", hexa("PMAK-", 24, 34)),
        ("linear-api-key", token("lin_api_", BASE62, 40)),
        ("notion-api-token", lambda rng: "ntn_" + digits(rng, 11) + mixed(rng, BASE62, 35)),
        ("atlassian-api-token", token("ATATT3", BASE64URL, 186)),
        ("jwt", jwt),
        ("url-credentials", lambda rng: f"postgres://app:{mixed(rng, BASE62, 12)}@db.internal:5432/app"),
        ("url-credentials", lambda rng: f"https://deploy:{mixed(rng, BASE62, 20)}@git.host.test/a.git"),
        ("url-credentials", lambda rng: f"redis://:{mixed(rng, BASE62, 18)}@cache:6379/0"),
        ("authorization-header", assigned("Authorization: Bearer @")),
        ("authorization-header", assigned('-H "Authorization: Basic @=="')),
    ]
    forms = [
        "API_KEY=@",
        "export AWS_SECRET_ACCESS_KEY=@",
        "password: @",
        'db_password = "@"',
        "client_secret: '@'",
        '"accessToken": "@",',
        "const apiKey = '@';",
        'token: str = "@"',
        "**Password:** `@`",
        "API key: @",
        "DB_PWD=@",
        "Server=db;User Id=app;Password=@;Encrypt=true",
        "https://host.test/callback?access_token=@&state=1",
        'let secret: &str = "@";',
        'x-api-key: "@"',
        '{\\"password\\": \\"@\\"}',
    ]
    table += [("generic-api-key", assigned(form)) for form in forms]
    for rule, recipe in table:
        POSITIVE.setdefault(rule, []).append(recipe)


_fill()


def positives(seed: int) -> Iterator[tuple[str, str]]:
    """Every recipe once: the rule and a credential."""
    rng = random.Random(seed)
    for rule, recipes in POSITIVE.items():
        for recipe in recipes:
            yield rule, recipe(rng)
