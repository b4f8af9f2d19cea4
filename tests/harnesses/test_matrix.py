"""What one harness saves for another, the other finds, and a third does not: every ordered pair."""

import json
from functools import cache

import pytest

from .endpoint import Call, results
from .handoffs import SLUGS, hand_over, reply, session, take_over

pytestmark = [pytest.mark.harness(*SLUGS)]

PAIRS = [(first, second) for first in SLUGS for second in SLUGS if second != first]


@pytest.fixture(scope="module")
def handed_over(people):
    """Give, once for each harness, a person for whom it has handed over to the others, and the ids."""

    @cache
    def by(first):
        person = people(*SLUGS)
        person.write(".codex/config.toml", 'model_reasoning_effort = "low" # mine\n')
        person.ecc("install", *(word for slug in SLUGS for word in ("--harness", slug)))
        return person, hand_over(person, first, *(slug for slug in SLUGS if slug != first))

    return by


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_handoff(handed_over, first, second):
    person, ids = handed_over(first)
    take_over(person, first, second, ids)
    kept = json.loads(person.ecc("read", ids[second], "--json"))["memory"]
    assert (kept["sourceHarness"], kept["targetHarnesses"]) == (first, [second])


PERSONAL = {"title": "Editor", "body": "I use vi.", "kind": "preference", "scope": "user"}
OPEN = "ECC_MEMORY_ALLOW_USER_SCOPE"


@pytest.mark.parametrize("slug", [pytest.param(slug, marks=pytest.mark.harness(slug)) for slug in SLUGS])
def test_the_user_scope_is_closed_until_it_is_opened(people, slug):
    person = people(slug)
    person.write(".codex/config.toml", "")
    person.ecc("install", "--harness", slug)
    calls = (
        Call("memory_save", PERSONAL),
        Call("memory_search", {"query": "editor", "scopes": ["user"]}),
        Call("memory_search", {"query": "editor"}),
    )
    saved, found, found_without = results(session(person, slug, *calls).turns[-1])
    for refused in (saved, found):
        assert f"The user scope is open only where {OPEN}=1" in refused
    assert reply(found_without)["results"] == []
    assert not (person.home / ".ecc").exists()
    person.ecc("install", "--harness", slug, "--allow-user-scope")
    saved, found, found_without = results(session(person, slug, *calls).turns[-1])
    assert reply(saved)["memory"]["scope"] == "user"
    assert [hit["memory"]["title"] for hit in reply(found)["results"]] == ["Editor"]
    assert reply(found_without)["results"] == []  # open, and still only on request
