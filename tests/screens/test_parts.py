"""The parts of the screens that need no app."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding

from marginalia_tui.desk.answer import Block, Facts, Rows, Words
from marginalia_tui.domain.errors import Refused
from marginalia_tui.screens.crew import Crew
from marginalia_tui.screens.help import KeyGroup, key_sheet, page_title
from marginalia_tui.screens.host import key_words
from marginalia_tui.screens.keys import all_bindings, load_all, our_classes
from marginalia_tui.screens.results import lay_out
from marginalia_tui.widgets.text import cells

# The crew


def test_the_crew_answers_and_raises_what_the_work_does() -> None:
    async def run() -> None:
        crew = Crew()
        assert await crew.call(lambda one, two: one + two, 1, 2) == 3
        with pytest.raises(Refused, match="no"):
            await crew.call(_refuse)
        assert crew.busy == 0

    asyncio.run(run())


def _refuse() -> None:
    raise Refused("no")


def test_work_that_waits_holds_up_no_other() -> None:
    async def run() -> None:
        crew, go = Crew(), threading.Event()
        waiting = [asyncio.ensure_future(crew.call(go.wait, 20)) for _ in range(20)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(crew.call(lambda: "free"), 10) == "free"
        go.set()
        assert await asyncio.gather(*waiting) == [True] * 20

    asyncio.run(run())


def test_a_caller_that_is_cancelled_waits_no_more() -> None:
    async def run() -> None:
        crew, go = Crew(), threading.Event()
        task = asyncio.ensure_future(crew.call(go.wait, 20))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        assert await crew.call(lambda: 1) == 1

    asyncio.run(run())


def test_work_that_outlives_the_loop_does_no_harm() -> None:
    crew, go, done = Crew(), threading.Event(), threading.Event()
    before = threading.active_count()

    def work() -> None:
        go.wait(20)
        done.set()

    async def run() -> None:
        asyncio.ensure_future(crew.call(work))
        await asyncio.sleep(0)

    asyncio.run(run())
    go.set()
    assert done.wait(20)
    assert threading.active_count() <= before + 1


# Keys


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("escape", "Esc"),
        ("ctrl+s", "Ctrl+S"),
        ("slash", "/"),
        ("question_mark", "?"),
        ("a", "a"),
        ("A", "A"),
        ("f8", "F8"),
        ("pagedown", "PgDn"),
        ("ctrl+shift+left", "Ctrl+Shift+Left"),
        ("right_square_bracket", "]"),
        ("full_stop", "."),
    ],
)
def test_keys_are_written_as_people_write_them(key: str, words: str) -> None:
    assert key_words(key) == words


def test_every_binding_with_words_has_an_id_and_no_id_means_two_things() -> None:
    load_all()
    rows = all_bindings()
    assert len({row.id for row in rows}) == len(rows)
    meanings: dict[str, set[str]] = {}
    for cls in our_classes():
        for binding in Binding.make_bindings(cls.__dict__.get("BINDINGS", ())):
            if binding.id:
                meanings.setdefault(binding.id, set()).add(binding.description)
    assert {id: words for id, words in meanings.items() if len(words) > 1} == {}


def test_the_sheet_of_keys_is_no_markdown_of_others() -> None:
    sheet = key_sheet((KeyGroup("Here", (("*", "a_b"), ("[", "[x](y)"))),))
    assert "\\*" in sheet and "a\\_b" in sheet and "\\[x\\]" in sheet


def test_titles_of_pages() -> None:
    assert page_title("agents", "# Agents at work\n\nText.") == "Agents at work"
    assert page_title("agents", "Text.") == "agents"


# Answers

TEXTS = st.text(max_size=40)
BLOCKS = st.one_of(
    st.builds(Words, TEXTS),
    st.builds(Facts, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4)),
    st.integers(1, 4).flatmap(
        lambda count: st.builds(
            Rows,
            TEXTS,
            st.lists(TEXTS, min_size=count, max_size=count),
            st.lists(st.lists(TEXTS, min_size=count, max_size=count), max_size=4),
            st.lists(st.booleans(), min_size=count, max_size=count),
        )
    ),
)


@given(st.lists(BLOCKS, max_size=4), st.integers(20, 120))
def test_no_line_of_an_answer_is_wider_than_the_panel_or_obeyed(blocks: list[Block], width: int) -> None:
    for line in lay_out(blocks, width):
        text = "".join(part for part, _ in line)
        assert "\x1b" not in text and "\n" not in text
        assert cells(text.rstrip()) <= width


def test_a_table_takes_what_it_needs_and_no_more() -> None:
    table = Rows("parts", ["part", "words"], [["The Lamp", "12"]], [False, True])
    lines = ["".join(text for text, _ in line) for line in lay_out([table], 80)]
    assert [line.rstrip() for line in lines] == ["parts", "part     words", "The Lamp    12"]
