"""Configuration files as people have them, in the shapes that break installers.

Every editable one must come back byte for byte after install and uninstall; every uneditable one
must be refused and left untouched.
"""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"

_TOML = b"""\
# pinned, see wiki
model = "gpt-x"
notify = ["sh", "-c", '''echo "done"''']

[mcp_servers.a] # mine
command = "a"
startup_timeout_ms = 20_000
args = ["--x", \"\"\"multi
line\"\"\"]

[projects."/home/me/my project"]
trust_level = "trusted"
"""

_JSON = b"""\
{
  "model": "opus",
  "note": "caf\xc3\xa9 \xe2\x80\x94 don\xe2\x80\x99t",
  "permissions": {"allow": ["Bash(ls)"]},
  "mcpServers": {
    "other": {"command": "other", "args": ["-x"]}
  }
}
"""

_JSONC = b"""\
{
  // my providers
  "provider": {"a": {}}, /* the
  only one */
  "mcp": {
    "x": {"type": "local", "command": ["true"]}, // keep
  },
}
"""

_YAML = b"""\
# Settings
model: small   # cheap
list:
- a
-   b
mcp_servers:   # all of them
  time:
    command: uvx
    args: ["mcp-server-time"]

'quoted key': "value"
text: |
  many
  lines
"""

_MARKDOWN = b"""\
# House rules

- Be brief.

```sh
make test   # <!-- ecc-memory:begin --> in code means nothing
```
"""

EDITABLE: dict[str, dict[str, bytes]] = {
    "toml": {
        "usual": _TOML,
        "crlf": _TOML.replace(b"\n", b"\r\n"),
        "bom": BOM + _TOML,
        "no final newline": b'model = "x"',
        "empty": b"",
        "comment only": b"# nothing yet\n",
        "blank lines": b'\n\nmodel = "x"\n\n\n',
        "dotted keys": b'mcp_servers.a.command = "a"\nmcp_servers.a.args = []\n',
    },
    "json": {
        "usual": _JSON,
        "crlf": _JSON.replace(b"\n", b"\r\n"),
        "tabs": _JSON.replace(b"  ", b"\t"),
        "no final newline": _JSON.rstrip(),
        "one line": b'{"model":"x"}',
        "empty object": b"{}\n",
        "empty object over lines": b"{\n\n}\n",
    },
    "jsonc": {
        "usual": _JSONC,
        "crlf": _JSONC.replace(b"\n", b"\r\n"),
        "bom": BOM + _JSONC,
        "comment at the end": b'{\n  "a": 1\n  // nothing more\n}\n',
        "no trailing comma": b'{\n\t"a": 1\n}',
        "empty object": b"{}",
    },
    "yaml": {
        "usual": _YAML,
        "crlf": _YAML.replace(b"\n", b"\r\n"),
        "no final newline": b"model: x",
        "null section": b"mcp_servers:\nmodel: x\n",
        "document start": b"---\nmodel: x\n",
    },
    "markdown": {
        "usual": _MARKDOWN,
        "crlf": _MARKDOWN.replace(b"\n", b"\r\n"),
        "bom": BOM + _MARKDOWN,
        "no final newline": b"# Rules",
        "empty": b"",
        "blank lines": b"\n\n# Rules\n\n\n\n",
        "odd line ends": b"form\x0cfeed and \xe2\x80\xa8 and \xc2\x85\r\nmixed\n",
    },
}
"""Format -> name -> bytes."""

UNEDITABLE: dict[str, dict[str, bytes]] = {
    "toml": {"cut off": b"model = \n", "twice": b"a = 1\na = 2\n", "latin 1": b'a = "caf\xe9"\n'},
    "json": {
        "comment": b'{"a": 1} // no\n',
        "cut off": b'{"a": 1',
        "list": b"[]\n",
        "latin 1": b'{"a": "\xe9"}',
    },
    "jsonc": {"cut off": b'{"a": 1', "twice": b'{"a": 1, "a": 2}', "list": b"[]\n"},
    "yaml": {
        "cut off": b"a: [1, 2\n",
        "twice": b"a: 1\na: 2\n",
        "documents": b"a: 1\n---\nb: 2\n",
        "list": b"- a\n",
    },
    "markdown": {
        "no end": b"<!-- ecc-memory:begin -->\nold\nMY OWN TEXT\n",
        "end first": b"<!-- ecc-memory:end -->\ntext\n<!-- ecc-memory:begin -->\n",
        "utf-16": "# Rules\n".encode("utf-16"),
    },
}
"""Format -> name -> bytes."""
