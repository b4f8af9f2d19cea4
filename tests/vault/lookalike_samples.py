"""Text that people write down and that no scanner of secrets should stop at."""

from __future__ import annotations

import base64
import random
import string
import textwrap
import uuid
from collections.abc import Callable, Iterator

from .secret_samples import BASE62, LOWER_HEX, run

UPPER_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
WORDS = """
account adapter branch bridge cache client commit config cursor deploy engine field folder garden handoff
harness index kernel ledger memory module needle notes oauth2 orbit parser planet queue reader recall
release river schema secret server signal socket storage stream system table tester token vault walker
""".split()  # noqa: SIM905


def base64_of(rng: random.Random, octets: int) -> str:
    return base64.b64encode(rng.randbytes(octets)).decode()


def words(rng: random.Random, count: int, separator: str) -> str:
    return separator.join(rng.choice(WORDS) for _ in range(count))


def version(rng: random.Random) -> str:
    return f"{rng.randint(0, 30)}.{rng.randint(0, 40)}.{rng.randint(0, 99)}"


def hashes(rng: random.Random) -> list[str]:
    sha1, sha256 = run(rng, LOWER_HEX, 40), run(rng, LOWER_HEX, 64)
    ulid = "01" + run(rng, UPPER_BASE32, 24)
    return [
        f"merged via PR #{rng.randint(1, 9999)}, commit {sha1[:8]}",
        f"commit {sha1}",
        f"fixed the token refresh in {sha1}\nand the password prompt in\n{run(rng, LOWER_HEX, 40)}",
        f"sha256:{sha256}",
        f"{sha256}  dist/{words(rng, 2, '-')}.tar.gz",
        f"The commit that broke the token:\n{sha1}\n",
        f"Secret scanning, last good commit:\n- {sha1}\n- {run(rng, LOWER_HEX, 40)}",
        f"request {uuid.UUID(int=rng.getrandbits(128))} failed",
        f"session {ulid} resumed",
        f"mem_20260726_{run(rng, LOWER_HEX, 20)}",
        f"md5 {run(rng, LOWER_HEX, 32)}\nSHA1 {sha1.upper()}\n",
        f"cache-key-{run(rng, LOWER_HEX, 32)}",
        "\n".join(textwrap.wrap(run(rng, LOWER_HEX, 640), 64)),
        "\r\n".join(textwrap.wrap(base64_of(rng, 600), 76)),
        "\n".join(run(rng, LOWER_HEX, 40) for _ in range(8)),
        "\n".join(run(rng, UPPER_BASE32, 20) for _ in range(12)),
    ]


def lockfiles(rng: random.Random) -> list[str]:
    name, release = words(rng, 2, "-"), version(rng)
    sha256, sri = run(rng, LOWER_HEX, 64), base64_of(rng, 64)
    return [
        f'"integrity": "sha512-{sri}"',
        f'<script src="x.js" integrity="sha384-{base64_of(rng, 48)}" crossorigin="anonymous">',
        f"github.com/{name}/token v{release} h1:{base64_of(rng, 32)}",
        f"github.com/{name}/secret v{release}/go.mod h1:{base64_of(rng, 32)}",
        f'"node_modules/js-tokens": {{\n  "version": "{release}",\n  "integrity": "sha512-{sri}"\n}}',
        f'"resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-{release}.tgz",',
        f"'@octokit/auth-token@{release}':\n    resolution: {{integrity: sha512-{sri}}}\n",
        f'auth-token@^{release}:\n  version "{release}"\n  integrity sha512-{sri}\n',
        f'  resolved "https://registry.yarnpkg.com/token/-/token-{release}.tgz#{run(rng, LOWER_HEX, 40)}"',
        f'"password-prompt@npm:^{release}":\n  checksum: 10c0/{run(rng, LOWER_HEX, 128)}\n',
        f'    {{file = "{name}-{release}-py3-none-any.whl", hash = "sha256:{sha256}"}},',
        (
            f'sdist = {{ url = "https://pypi.test/{sha256[:2]}/{sha256[2:]}/secretstorage-{release}.tar.gz", '
            f'hash = "sha256:{sha256}", size = {rng.randint(1000, 99999)} }}'
        ),
        f'[[package]]\nname = "keyring"\nversion = "{release}"\nchecksum = "{sha256}"\n',
        f"secrets-store=={release} --hash=sha256:{sha256}",
        f"image: ghcr.io/{name}/api@sha256:{sha256}",
        f"uses: docker://alpine:{release}@sha256:{sha256}",
        f"FROM python:3.12-slim@sha256:{sha256}",
        f"uses: actions/create-github-app-token@{run(rng, LOWER_HEX, 40)} # v{release}",
        f'narHash = "sha256-{base64_of(rng, 32)}";',
    ]


def blobs(rng: random.Random) -> list[str]:
    prose = base64.b64encode((words(rng, 60, " ") + ".").encode()).decode()
    return [
        f"data:image/png;base64,{base64_of(rng, 400)}",
        f"![logo](data:image/svg+xml;base64,{base64_of(rng, 300)})",
        f"data:font/woff2;base64,d09GMgABAAAAA{base64_of(rng, 900)}",
        f"```\n{prose}\n```",
        "\n".join(textwrap.wrap(prose, 64)),
        base64.urlsafe_b64encode(rng.randbytes(900)).decode(),
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{base64_of(rng, 33)} me@laptop",
        f"-----BEGIN CERTIFICATE-----\n{base64_of(rng, 48)}\n{base64_of(rng, 48)}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{base64_of(rng, 48)}\n-----END PUBLIC KEY-----",
        run(rng, BASE62, 4000),
        run(rng, string.ascii_uppercase, 300),
    ]


def paths(rng: random.Random) -> list[str]:
    slug, number = words(rng, 4, "-"), rng.randint(1, 9999)
    return [
        f"feature/{slug}-{number}",
        f"renovate/{slug}-{version(rng)}",
        f"dependabot/npm_and_yarn/{slug}-{version(rng)}",
        f"/home/{words(rng, 1, '')}/src/{words(rng, 5, '/')}/token_{number}.py",
        f"secret: /run/secrets/{slug}-{number}",
        f'token_file = "/var/run/secrets/kubernetes.io/serviceaccount{number}/token"',
        f"password: ./config/{slug}/password2.txt",
        f"src/{words(rng, 3, '/')}/{words(rng, 3, '_')}.test.ts:{number}",
        f"C:\\Users\\me\\AppData\\Local\\{slug}\\{number}",
        f"see https://github.com/{words(rng, 2, '/')}/pull/{number}#discussion_r{rng.getrandbits(33)}",
        f"https://me@example.org/{slug}?page={number}&key={slug}",
        f"ssh://git@host.test:22{number % 90 + 10}/{slug}.git and git@github.com:{slug}.git",
        f"listens on http://localhost:{number + 1000}\nadmin@example.org looks after it",
        f"- https://host.test\n- mailto:{words(rng, 1, '')}@example.org",
        f"https://host.test\nmailto:{words(rng, 1, '')}@example.org",
        f"[site](https://a.test:443)(mailto:b@c.test) https://a.test:80/@scope/{slug}@{version(rng)}",
        f"postgres://app:${{PGPASSWORD}}@db.test/{slug}",
        f"postgres://app:$PGPASSWORD@db.test/{slug} mysql://root:<password>@db amqp://app:{{password}}@mq",
        "The form is scheme://user:pass@host, or https://USER:YOUR_PASSWORD@example.org; keep it out.",
        f"https://a.test/?q=caf%C3%A9%20{slug}&next=https%3A%2F%2Fb.test%3A{number + 1000}%2Fx%40y",
    ]


def code(rng: random.Random) -> list[str]:
    name = words(rng, 2, "_").upper() + f"_{rng.randint(1, 99)}"
    return [
        f'token = os.environ["{name}_TOKEN"]',
        f'API_KEY = os.environ.get("{name}_API_KEY")',
        f'password = os.getenv("{name}_PASSWORD")',
        f"const apiKey = process.env.{name}_API_KEY;",
        f"apiKey: import.meta.env.VITE_{name}_KEY,",
        f"token: ${{{{ secrets.{name}_TOKEN }}}}",
        "  github_token: ${{ secrets.GITHUB_TOKEN }}",
        f"export SECRET_KEY=${{{name}}}",
        f"export SECRET_KEY=${name}_PRODUCTION",
        f'API_TOKEN="$(op read op://vault/{name}/credential)"',
        f'secret: "op://private/{name.lower()}/credential"',
        f'secret = "arn:aws:secretsmanager:eu-west-1:{rng.getrandbits(39)}:secret:app-{run(rng, BASE62, 6)}"',
        f'let token = std::env::var("{name}_TOKEN").unwrap();',
        f'password := os.Getenv("{name}_PASSWORD")',
        f"secret = ENV.fetch('{name}_SECRET')",
        "oauth2_scheme = OAuth2PasswordBearer(tokenUrl='token')",
        "token: OAuth2PasswordBearer",
        "access_token: Annotated[str, Depends(oauth2_scheme_v2)]",
        f"token = get_oauth2_token_{words(rng, 2, '_')}(request)",
        f"token = settings.{words(rng, 2, '_')}_{rng.randint(1, 99)}.access_token",
        f"secret:\n  secretName: {words(rng, 3, '-')}-{rng.randint(1, 99)}\n",
        f"valueFrom:\n  secretKeyRef:\n    name: {words(rng, 3, '-')}\n    key: password{rng.randint(1, 9)}",
        f"max_tokens: {run(rng, string.digits, 17)}x",
        f"tokenizer = 'bert-base-uncased-{rng.randint(1000, 9999)}'",
        f"cache_key = '{words(rng, 3, '-')}-{run(rng, LOWER_HEX, 32)}'",
        f'headers["authorization"] = f"Bearer {{{name.lower()}}}"',
        'curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com',
        f"token_expires_at: 2026-07-{rng.randint(10, 28)}T20:00:00.000Z",
        f"Token: 2026-07-{rng.randint(10, 28)}T20:00:00.000Z was the last rotation",
        f"PASSWORD=changeme\nUSER{rng.randint(1, 99)}_NAME=somebody_{rng.randint(1, 99)}",
        f"token: none\nversion{rng.randint(1, 99)}_release_name: {words(rng, 2, '-')}",
    ]


def mentions(rng: random.Random) -> list[str]:
    topic = words(rng, 3, " ")
    return [
        f"The password for the {topic} is in the team's password manager, never here.",
        f"no API key in the build; {topic}",
        f"Password: ask {topic}",
        f"Secrets: see the runbook for {topic} of 2026-07-{rng.randint(10, 28)}",
        "api_key: <your-token>",
        'api_key = "YOUR_API_KEY"',
        'API_KEY="your-api-key-goes-here-123"',
        f"token: {'x' * rng.randint(4, 40)}",
        f"TOKEN={'*' * rng.randint(4, 40)}",
        "ghp_" + "x" * 36,
        "sk-ant-api03-" + "your-key-goes-here-please-replace",
        "glpat-" + "this-is-where-your-token-goes",
        "sk_test_" + "x" * 24,
        "xoxb-" + "your-bot-token-goes-here-1",
        "https://hooks.slack.com/" + "services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "AWS documents AKIAIOSFODNN7EXAMPLE with wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        f"Tokens begin with ghp_, gho_, github_pat_, glpat-, sk-, xoxb- or AKIA ({topic}).",
        f"A JWT begins with eyJ\nand has three parts; {topic}",
        f"the prefix is AKIA\nand then {topic}",
        "task-" + run(rng, BASE62, 30) + " risk-" + run(rng, LOWER_HEX, 32),
        words(rng, 30, "\n"),
        words(rng, 30, "\r\n"),
        words(rng, 20, "-") + "\n" + words(rng, 20, "_"),
        f"token\n{words(rng, 12, chr(10))}",
        f"**Token:** rotated\n{words(rng, 2, '')}{rng.randint(1, 9)} {topic}",
        "\u26a0\ufe0f " + topic + " \u200d\U0001f469\u200d\U0001f4bb token: none",
    ]


FAMILIES: list[Callable[[random.Random], list[str]]] = [hashes, lockfiles, blobs, paths, code, mentions]


def lookalikes(seeds: int) -> Iterator[str]:
    """Every kind of look-alike once for each seed."""
    for seed in range(seeds):
        rng = random.Random(seed)
        for family in FAMILIES:
            yield from family(rng)
