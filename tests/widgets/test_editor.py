import asyncio
import time

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from marginalia_tui.widgets.editor import Editor, SubmitArea
from marginalia_tui.widgets.prompt import PromptBox
from tests.widgets.support import Host, run, seen


def editor(app: Host) -> Editor:
    return app.query_one(Editor)


def test_f50_the_cursor_moves_by_clusters_and_backspace_takes_one() -> None:
    family, accented, heart = "👩‍👩‍👧", "e\u0301", "❤\ufe0f"

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        area = editor(app)
        area.content = f"a{family}{accented}{heart}灯"
        area.focus()
        stops = [0]
        for _ in range(5):
            await pilot.press("right")
            stops.append(area.cursor_location[1])
        assert stops == [0, 1, 6, 8, 10, 11]
        await pilot.press("left", "left", "left")
        assert area.cursor_location[1] == 6
        await pilot.press("backspace")
        assert area.content == f"a{accented}{heart}灯"
        await pilot.press("delete")
        assert area.content == f"a{heart}灯"
        await pilot.press("home", "left", "end", "right")
        assert area.cursor_location == (0, 4)

    run(lambda: [Editor()], scenario)


def test_control_characters_are_shown_and_kept() -> None:
    text = "one\x1b[31m\x0ctwo\u2028three\r\nfour\x85five\tsix"

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        editor(app).content = text
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        assert not any(sign in strip.text for strip in strips for sign in "\x1b\x0c\u2028\r\x85")
        assert seen(app)[0].strip().startswith("one␛[31m␌two␤three␍")
        assert editor(app).content == text

    run(lambda: [Editor()], scenario)


@given(st.text(st.characters(blacklist_categories=["Cs", "Co"]), max_size=40))
def test_content_is_what_was_given(text: str) -> None:
    async def check() -> None:
        assert Editor(text).content == text

    asyncio.run(check())


def prompt() -> list[Widget]:
    return [PromptBox(placeholder="Write to the agent.")]


def box(app: Host) -> PromptBox:
    return app.query_one(PromptBox)


def test_enter_sends_and_ctrl_j_makes_a_line() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        box(app).focus()
        assert "Write to the agent." in "\n".join(seen(app))
        await pilot.press("enter", "space", "enter")
        assert not app.of(PromptBox.Sent)
        await pilot.press("backspace", *"leave", "ctrl+j", *"it", "enter")
        assert [message.text for message in app.of(PromptBox.Sent)] == ["leave\nit"]
        assert box(app).content == ""

    run(prompt, scenario)


def test_the_box_grows_to_six_lines() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        box(app).focus()
        heights = [box(app).content_size.height]
        for _ in range(8):
            await pilot.press("ctrl+j")
            heights.append(box(app).content_size.height)
        assert heights == [1, 2, 3, 4, 5, 6, 6, 6, 6]

    run(prompt, scenario)


def test_f49_a_large_paste_is_a_word_in_the_box_and_sent_whole() -> None:
    text = "\n".join(f"line {number} [b]" for number in range(100))

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        box(app).focus()
        await pilot.press(*"see ")
        box(app).post_message(events.Paste(text.replace("\n", "\r\n")))
        await pilot.pause()
        assert box(app).content == "see [pasted 1: 100 lines]"
        await pilot.press("ctrl+z")
        assert box(app).content == "see "
        await pilot.press("ctrl+y")
        box(app).post_message(events.Paste(" and so on"))
        await pilot.press("enter")
        assert [message.text for message in app.of(PromptBox.Sent)] == [f"see {text} and so on"]

    run(prompt, scenario)


def test_f49_a_paste_without_brackets_does_not_submit_each_line() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        area = app.query_one(SubmitArea)
        area.focus()
        await pilot.pause()
        for sign in "a first line of text\nand a second line":
            key = "enter" if sign == "\n" else "space" if sign == " " else sign
            area.post_message(events.Key(key, "\r" if sign == "\n" else sign))
        await pilot.pause()
        assert not app.of(SubmitArea.Submitted)
        assert area.content == "a first line of text\nand a second line"

    run(lambda: [SubmitArea()], scenario)


def test_f49_a_paste_of_a_million_characters_is_linear() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        def paste(size: int) -> float:
            area = editor(app)
            area.content = ""
            began = time.process_time()
            area.paste(("A line of text that someone pasted.\n" * (size // 36 + 1))[:size])
            spent = time.process_time() - began
            assert len(area.content) == size
            return spent

        # The best of three: what else the machine does, and the collector, are no part of the paste.
        seconds = [min(paste(size) for _ in range(3)) for size in (100_000, 1_000_000)]
        assert seconds[1] < 25 * seconds[0] + 0.2

    run(lambda: [Editor()], scenario)
