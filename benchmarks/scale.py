"""How search grows with the vault: time and memory, with the index and without, against a bare walk.

    python benchmarks/scale.py                    10 to 100,000 memories, about half an hour
    python benchmarks/scale.py --sizes 10,4900    a shorter set
    python benchmarks/scale.py --write docs       put the tables and the plot into docs/performance.md

Everything is measured in one run on one machine and given as a ratio: to the floor, a bare ``scandir`` and
``lstat`` of the same tree, and to a full scan, the same search with ``ECC_MEMORY_INDEX=0``. The floor and
the searches take turns, so that they see the same machine; what runs in one process is measured in
processor time too, which other programs disturb less. All files are in the system's page cache.

Memories are 1.5 KB of text with the word frequencies of English (Zipf), with identifiers and hashes. The
queries are of the kinds in ``queries``, each time with other words.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecc_memory.vault import Place

SIZES = (10, 100, 1_000, 4_900, 20_000, 100_000)
ROUNDS = 5
BIN = Path(sys.executable).parent
KINDS = ("context", "decision", "fact", "handoff", "lesson", "note", "preference", "runbook")
ROOMY = {"ECC_MEMORY_MAX_FILES": "200000"}  # 100,000 memories and their folders are more than the default
BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"


class Words:
    """Text of words as frequent as those of English, the same in every run."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        letters = "etaoinshrdlucmfwypvbgkqjxz"
        weights = [1 / (rank + 2) for rank in range(len(letters))]
        lengths = range(2, 11)
        self.all = list(
            dict.fromkeys(
                "".join(self.random.choices(letters, weights, k=self.random.choice(lengths)))
                for _ in range(40_000)
            )
        )
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self.all))))

    def some(self, count: int) -> list[str]:
        """Return words as they come in a text."""
        return self.random.choices(self.all, cum_weights=self.weights, k=count)

    def body(self) -> str:
        """Return 1.5 KB of text."""
        parts: list[str] = []
        size = 0
        while size < 1500:
            word = self.some(1)[0]
            fate = self.random.random()
            if fate < 0.08:
                word = f"{word}. {self.some(1)[0].capitalize()}"
            elif fate < 0.12:
                word = f"{word},"
            elif fate < 0.13:
                word = f"{word}_{self.some(1)[0]}"
            elif fate < 0.135:
                word = f"`{self.random.getrandbits(40):010x}`"
            elif fate < 0.15:
                word = f"{word}\n"
            parts.append(word)
            size += len(word) + 1
        return " ".join(parts)


def queries(words: Words, bodies: list[str]) -> dict[str, Callable[[], str]]:
    """The kinds of queries; each call makes another one."""
    common, middle = words.all[:40], words.all[200:2000]
    pick = words.random.choice

    def phrase() -> str:
        text = pick(bodies).split()
        at = words.random.randrange(len(text) - 3)
        return " ".join(text[at : at + 3])

    return {
        "one word": lambda: pick(middle),
        "a common word": lambda: pick(common),
        "three words": lambda: " ".join([pick(middle), pick(middle), pick(common)]),
        "a phrase from a memory": phrase,
        "an identifier": lambda: f"{pick(middle)}_{pick(middle)}",
        "nothing like it": lambda: f"{words.random.getrandbits(48):x}",
        "the newest": lambda: "",
    }


def bounded(words: Words) -> dict[str, Callable[[], str]]:
    """Queries that need only stay bounded."""
    return {
        "one letter": lambda: words.random.choice("abcde"),
        "Chinese": lambda: "如何轮换令牌",
        "punctuation": lambda: "!?!",
        "500 characters": lambda: " ".join(words.some(100))[:500],
    }


def make_vault(folder: Path, size: int, words: Words) -> list[str]:
    """Write a vault of so many memories; return some of their bodies."""
    from ecc_memory.vault import Memory, serialize_document

    bodies = []
    for kind in KINDS:
        (folder / "project" / f"{kind}s").mkdir(parents=True)
    for number in range(size):
        kind = KINDS[number % len(KINDS)]
        day = f"2026-{number % 12 + 1:02}-{number // 12 % 28 + 1:02}T10:{number % 60:02}:00.000Z"
        title, body = " ".join(words.some(5)).capitalize(), words.body()
        memory = Memory(
            f"mem_{number:08}",
            title,
            kind,
            "project",
            "active",
            "codex",
            ("all",),
            (words.some(1)[0],),
            (),
            day,
            day,
            body,
        )
        path = folder / "project" / f"{kind}s" / f"{memory.id}.md"
        path.write_text(serialize_document(memory), encoding="utf-8")
        if len(bodies) < 200:
            bodies.append(body)
    return bodies


def floor(folder: str) -> int:
    """List every folder and look at every entry: what no answer that trusts nothing can go below."""
    seen = 0
    with os.scandir(folder) as listing:
        for entry in listing:
            entry.stat(follow_symlinks=False)
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                seen += floor(entry.path)
    return seen


def took(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return milliseconds."""
    began = clock()
    work()
    return (clock() - began) * 1000


def took_both(work: Callable[[], object]) -> tuple[float, float]:
    """Return milliseconds of processor time and on the wall."""
    began = time.perf_counter()
    processor = took(work, time.process_time)
    return processor, (time.perf_counter() - began) * 1000


def spread(values: list[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    ordered = sorted(values)
    return {"median": statistics.median(ordered), "p95": ordered[math.ceil(0.95 * len(ordered)) - 1]}


def resident() -> float:
    """Return the MiB that this process has in memory now, where the system tells; else its peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20


def measure_vault(folder: str, home: str, rounds: int) -> dict[str, Any]:
    """Measure a long-living vault and the floor in turn; runs in a process of its own."""
    from ecc_memory.vault import Vault
    from ecc_memory.vault.cache import cache_folder

    env = {"ECC_MEMORY_PROJECT_ROOT": folder, **ROOMY}
    words = Words()
    plain = Vault.open(env={**env, "ECC_MEMORY_INDEX": "0"}, home=home)
    before = resident()
    full = [took_both(lambda: plain.search(words.all[500])) for _ in range(2 if rounds < 5 else 3)]
    size = plain.search("", limit=1).diagnostics.total

    vault = Vault.open(env=env, home=home)
    build = took_both(lambda: vault.index.rebuild(vault.place("project"), vault.limits))
    first = took(lambda: Vault.open(env=env, home=home).search(words.all[500]))
    counted = {
        how: took_to_count(vault.place("project"), cache)
        for how, cache in (("count", cache_folder(env, home)), ("count without", None))
    }

    vault = Vault.open(env=env, home=home)
    bodies = [hit.memory.body for hit in vault.search("", limit=100).results]
    warm_up = took(lambda: [vault.search("qqqqqqqq") for _ in range(searches_until_warm(size))])
    floors: list[tuple[float, float]] = []
    searches: dict[str, list[tuple[float, float]]] = {}
    for number in range(rounds + 1):
        for kind, make in {**queries(words, bodies), **bounded(words)}.items():
            query = make()
            least = took_both(lambda: floor(folder))
            spent = took_both(lambda query=query: vault.search(query))  # type: ignore[misc]
            if number:  # the first round makes up what each kind of query needs once
                floors.append(least)
                searches.setdefault(kind, []).append(spent)
    least = tuple(statistics.median(column) for column in zip(*floors, strict=True))
    memory = resident()
    saves = [took(lambda: vault.save(title="Saved", body="One more memory.")) for _ in range(30)]
    result: dict[str, Any] = {
        "memories": size,
        "first": first,
        **counted,
        "warm-up": warm_up,
        "memory": memory,
        "memory before": before,
        "save": statistics.median(saves),
    }
    for index, clock in enumerate(("processor", "wall")):
        times = {kind: [each[index] for each in values] for kind, values in searches.items()}
        usual = [each for kind in queries(words, bodies) for each in times[kind]]
        result[clock] = {
            "full scan": statistics.median(each[index] for each in full),
            "build": size / build[index] * 1000,
            "floor": least[index],
            "search": statistics.median(usual),
            "ratio": spread([each / least[index] for each in usual]),
            "ratios": {
                kind: spread([each / least[index] for each in values]) for kind, values in times.items()
            },
        }
    return result


def took_to_count(place: Place, cache: str | None) -> float:
    """Return the milliseconds of a reminder's count; not a number where there is too much to count."""
    from ecc_memory.reminders.counts import OutOfTime, count

    try:
        return took(lambda: count([place], "codex", math.inf, cache))
    except OutOfTime:
        return math.nan


def searches_until_warm(memories: int) -> int:
    """Return after how many searches a vault has indexed all there is; it does so in portions."""
    return 4 + memories // 4096


def outer_environment(folder: str, home: str) -> dict[str, str]:
    """Return the environment of a program that is to look at the vault."""
    path = os.environ.get("PATH", os.defpath)
    return {"HOME": home, "PATH": path, "ECC_MEMORY_PROJECT_ROOT": folder, **ROOMY}


def measure_server(folder: str, home: str, rounds: int) -> dict[str, float]:
    """Measure the real server: a call through the protocol against the floor, and its memory."""
    env = outer_environment(folder, home)
    words = Words()
    with subprocess.Popen(
        [str(BIN / "ecc-memory-mcp")],
        env={**env, "ECC_MEMORY_HARNESS": "bench"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        numbers = itertools.count(1)

        def call(method: str, **params: object) -> None:
            assert server.stdin is not None
            assert server.stdout is not None
            message = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            assert b'"result"' in server.stdout.readline()

        def search(query: str) -> None:
            call("tools/call", name="memory_search", arguments={"query": query})

        call(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "b", "version": "0"},
        )
        assert server.stdin is not None
        server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        for _ in range(searches_until_warm(int(Path(folder).name.rpartition("-")[2]))):
            search("qqqqqqqq")
        ratios = []
        for _ in range(rounds):
            for make in queries(words, [words.body()]).values():
                query = make()
                least = took(lambda: floor(folder))
                ratios.append(took(lambda query=query: search(query)) / least)  # type: ignore[misc]
        memory = _resident_of(server.pid)
        idle = _cpu_of(server.pid)
        time.sleep(2)
        idle = _cpu_of(server.pid) - idle
        server.stdin.close()
        server.wait()
    return {**spread(ratios), "memory": memory, "idle": idle}


def _resident_of(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return math.nan


def _cpu_of(pid: int) -> float:
    """Return the milliseconds of processor time that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure_cli(folder: str, home: str, rounds: int, *, index: bool) -> float:
    """Return the median milliseconds of ``ecc memory search``."""
    env = outer_environment(folder, home)
    if not index:
        env["ECC_MEMORY_INDEX"] = "0"
    words = Words()
    times = []
    for _ in range(rounds):
        query = words.random.choice(words.all[200:2000])
        command = [str(BIN / "ecc"), "memory", "search", query]
        times.append(
            took(
                lambda command=command: subprocess.run(
                    command, env=env, stdout=subprocess.DEVNULL, check=True
                )
            )
        )  # type: ignore[misc]
    return statistics.median(times)


def measure(size: int, top: Path) -> dict[str, Any]:
    """Make a vault of one size and measure everything with it."""
    folder, home = top / f"vault-{size}", top / f"home-{size}"
    home.mkdir()
    make_vault(folder, size, Words())
    time.sleep(2.5)  # until the files are older than the clock's grain
    rounds = ROUNDS if size > 5_000 else 4 * ROUNDS
    command = [sys.executable, __file__, "--child", str(folder), str(home), str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    result["server"] = measure_server(str(folder), str(home), rounds)
    runs = 3 if size > 5_000 else 11
    result["cli"] = measure_cli(str(folder), str(home), runs, index=True)
    result["cli without"] = measure_cli(str(folder), str(home), runs, index=False)
    print(f"{size}: {json.dumps(result)}", file=sys.stderr)
    return result


def exponent(results: dict[int, dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> float:
    """Return the slope of the logarithms over the sizes from 1,000 up: 1 is proportional."""
    points = [(math.log(size), math.log(value(each))) for size, each in results.items() if size >= 1_000]
    if len(points) < 2:
        return math.nan
    mean_x, mean_y = (statistics.fmean(column) for column in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(results: dict[int, dict[str, Any]]) -> str:
    """Return the tables."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    sizes = list(results)
    rows: list[list[str]] = []

    def row(
        name: str, value: Callable[[dict[str, Any]], float], form: str = "{:,.1f}", *, grows: bool = True
    ) -> None:
        slope = f"{exponent(results, value):.2f}" if grows else ""
        shown = (
            "too many" if math.isnan(each) else form.format(each) for each in map(value, results.values())
        )
        rows.append([name, *shown, slope])

    row("floor: `scandir` and `lstat`, ms", lambda each: each["processor"]["floor"])
    row("full scan (no index), ms", lambda each: each["processor"]["full scan"])
    row("warm search, ms", lambda each: each["processor"]["search"])
    for clock in ("processor", "wall"):
        by = f"{clock} time" if clock == "processor" else "time on the wall"
        row(
            f"warm search / floor, median, {by}",
            lambda each, c=clock: each[c]["ratio"]["median"],
            "{:.2f}",
            grows=False,
        )
        row(
            f"warm search / floor, 95th percentile, {by}",
            lambda each, c=clock: each[c]["ratio"]["p95"],
            "{:.2f}",
            grows=False,
        )
    row(
        "full scan / warm search",
        lambda each: each["processor"]["full scan"] / each["processor"]["search"],
        grows=False,
    )
    row(
        "MCP server: call / floor, median, on the wall",
        lambda each: each["server"]["median"],
        "{:.2f}",
        grows=False,
    )
    row(
        "MCP server: call / floor, 95th percentile, on the wall",
        lambda each: each["server"]["p95"],
        "{:.2f}",
        grows=False,
    )
    row("MCP server: memory, MiB", lambda each: each["server"]["memory"], "{:.0f}", grows=False)
    row(
        "MCP server: processor time of 2 idle seconds, ms",
        lambda each: each["server"]["idle"],
        "{:.0f}",
        grows=False,
    )
    row("first search of a process, ms on the wall", lambda each: each["first"])
    row(
        "index built, documents a second of processor time",
        lambda each: each["processor"]["build"],
        "{:,.0f}",
        grows=False,
    )
    row("reminder's count with the index, ms on the wall", lambda each: each["count"], grows=False)
    row("reminder's count without, ms on the wall", lambda each: each["count without"], grows=False)
    row("CLI search with the index, ms on the wall", lambda each: each["cli"], "{:,.0f}")
    row("CLI search without, ms on the wall", lambda each: each["cli without"], "{:,.0f}")
    row("save, ms on the wall", lambda each: each["save"], "{:.2f}")
    heads = ["memories", *(f"{size:,}" for size in sizes), "growth exponent"]
    kinds = next(iter(results.values()))["processor"]["ratios"]
    by_kind = []
    for kind in kinds:
        spreads = [each["processor"]["ratios"][kind] for each in results.values()]
        by_kind.append([kind, *(f"{each['median']:.2f} / {each['p95']:.2f}" for each in spreads)])
    machine = (
        f"{os.cpu_count()} cores, {memory:.0f} GiB of memory, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}; `python benchmarks/scale.py`. "
        "Processor time where nothing else is said."
    )
    kinds_head = "Warm search by kind of query, as a multiple of the floor, median / 95th percentile:"
    by_kind_table = table(["query", *(f"{size:,}" for size in sizes)], by_kind)
    return "\n\n".join([machine, table(heads, rows), kinds_head, by_kind_table])


LINES: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "full scan": ("#c0392b", lambda each: each["processor"]["full scan"]),
    "CLI search with the index": ("#8e44ad", lambda each: each["cli"]),
    "warm search": ("#2471a3", lambda each: each["processor"]["search"]),
    "floor": ("#7f8c8d", lambda each: each["processor"]["floor"]),
    "save": ("#229954", lambda each: each["save"]),
}


def plot(results: dict[int, dict[str, Any]]) -> str:
    """Return an SVG drawing of the milliseconds over the sizes, both logarithmic."""
    width, height, left, bottom = 640, 400, 70, 40
    decades_x = (1, math.ceil(math.log10(max(results))))
    values = [line(each) for _, line in LINES.values() for each in results.values()]
    decades_y = (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))

    def x(size: float) -> float:
        share = (math.log10(size) - decades_x[0]) / max(decades_x[1] - decades_x[0], 1)
        return left + share * (width - left - 170)

    def y(value: float) -> float:
        share = (math.log10(value) - decades_y[0]) / max(decades_y[1] - decades_y[0], 1)
        return height - bottom - share * (height - bottom - 20)

    def parts() -> Iterator[str]:
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12">'
        )
        yield f'<rect width="{width}" height="{height}" fill="white"/>'
        for power in range(decades_x[0], decades_x[1] + 1):
            at = x(10**power)
            yield f'<path d="M{at:.1f} 20V{height - bottom}" stroke="#ddd"/>'
            yield f'<text x="{at:.1f}" y="{height - 20}" text-anchor="middle">{10**power:,}</text>'
        for power in range(decades_y[0], decades_y[1] + 1):
            at = y(10**power)
            yield f'<path d="M{left} {at:.1f}H{width - 170}" stroke="#ddd"/>'
            yield f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g} ms</text>'
        for name, (colour, line) in LINES.items():
            points = [(x(size), y(line(each))) for size, each in results.items()]
            path = "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
            yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            across, down = points[-1]
            yield f'<text x="{across + 6:.1f}" y="{down + 4:.1f}" fill="{colour}">{name}</text>'
        yield f'<text x="{(width - 170 + left) / 2}" y="{height - 4}" text-anchor="middle">memories</text>'
        yield "</svg>"

    return "\n".join(parts()) + "\n"


def write(results: dict[int, dict[str, Any]], folder: Path) -> None:
    """Put the tables and the plot into the documentation."""
    page = folder / "performance.md"
    text = page.read_text(encoding="utf-8") if page.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    image = "![Milliseconds over the number of memories, both logarithmic](performance-scale.svg)"
    page.write_text(f"{before}{BEGIN}\n{report(results)}\n\n{image}\n{END}{after}", encoding="utf-8")
    (folder / "performance-scale.svg").write_text(plot(results), encoding="utf-8")


def main() -> None:
    """Measure and print the tables."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure_vault(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="numbers of memories, separated by commas"
    )
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="the documentation to put the result into"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        results = {size: measure(size, Path(top)) for size in map(int, options.sizes.split(","))}
    print(report(results))
    if options.write:
        write(results, options.write)


if __name__ == "__main__":
    main()
