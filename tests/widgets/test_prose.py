from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.visible import visible
from marginalia_tui.widgets import prose

SOURCE = st.lists(
    st.sampled_from(
        [
            "word ",
            "two words. ",
            "\n",
            "\n\n",
            "*",
            "**",
            "_",
            "# ",
            "> ",
            "- ",
            "1. ",
            "***",
            "```",
            "`",
            "\\*",
            "&amp;",
        ]
        + ["[a](b)", "![c](d)", "    ", "<b>", "\r\n", "\x1b", "灯台", "é", "~~~", "\t"]
    ),
    max_size=60,
).map("".join)


@given(SOURCE)
def test_what_is_shown_stands_so_in_the_source(source: str) -> None:
    for chunk in prose.split(source):
        read = prose.read(source, chunk.start, chunk.end)
        for piece in read.pieces:
            shown = read.text[piece.shown : piece.shown + piece.length]
            if len(shown) == piece.length > 1:
                there = visible(source[piece.source : piece.source + piece.length].replace("\r", " "))
                assert shown == there or shown == there.replace("\n", " ")


@given(SOURCE)
def test_no_word_is_lost_and_places_go_both_ways(source: str) -> None:
    chunks = prose.split(source)
    assert all(one.end <= two.start for one, two in zip(chunks, chunks[1:], strict=False))
    text = ""
    for chunk in chunks:
        read = prose.read(source, chunk.start, chunk.end)
        text += read.text + " "
        places = [read.to_source(offset) for offset in range(len(read.text) + 1)]
        assert all(chunk.start <= place <= chunk.end for place in places)
        for piece in read.pieces:
            if piece.length > 1:
                assert read.to_shown(read.to_source(piece.shown)) == piece.shown
        for width in (5, 80):
            layout = prose.lay_out(read, width, 1)
            assert all(0 <= line.start <= line.end <= len(read.text) for line in layout.lines)
    assert text.count("word") >= source.count("word")
    assert "".join(text.split()).count("灯台") == source.count("灯台")


def lines(source: str, width: int = 30) -> list[str]:
    found: list[str] = []
    for chunk in prose.split(source):
        read = prose.read(source, chunk.start, chunk.end)
        layout = prose.lay_out(read, width, chunk.gap)
        found.extend(
            (line.lead.ljust(line.indent) + read.text[line.start : line.end]).rstrip() for line in layout.lines
        )
    return found


def test_blocks() -> None:
    assert lines("# Title\n\nA *soft* and **strong** `word`.") == ["Title", "", "A soft and strong word.", ""]
    assert lines("> He said\n> nothing.") == ["│ He said", "│ nothing.", ""]
    assert lines("- one\n- two\n\n  more\n") == ["• one", "", "• two", "", "  more", ""]
    assert lines("7. seven\n8. eight") == ["7. seven", "8. eight", ""]
    assert lines("```\na  b\n\n c\n```") == ["a  b", "", " c", ""]
    assert lines("see [the lamp](http://x) and ![a picture](y)", 60) == ["see the lamp and [y: a picture]", ""]


def test_scene_breaks_stand_in_the_middle() -> None:
    for source in ("***", "---", "* * *", "#", "⁂", "~"):
        line = lines(f"before\n\n{source}\n\nafter", 31)[2]
        assert line.strip() and line.startswith("      "), source
    assert lines("He left.\n---\nShe stayed.", 31)[2].strip() == "* * *"


def test_what_a_writer_rarely_means_is_text() -> None:
    assert lines("    four spaces in front") == ["four spaces in front", ""]
    assert lines("a <b>bold</b> word") == ["a <b>bold</b> word", ""]
    assert lines("[red] is no markup, [note]: neither") == ["[red] is no markup, [note]:", "neither", ""]


def test_line_breaks_are_kept_unless_an_editor_wrapped_the_line() -> None:
    assert lines("Tyger Tyger,\nburning bright") == ["Tyger Tyger,", "burning bright", ""]
    wrapped = (
        "It was a bright cold day and the lamp had been burning all night in\n"
        "the tower, so that the keeper did not know whether it was morning or\nnot."
    )
    assert len(prose.read(wrapped).text.split("\n")) == 1
    long = "A paragraph on one line. " * 10
    assert prose.read(f"{long.strip()}\n{long.strip()}").text.count("\n") == 1


def test_f48_a_text_without_blank_lines_is_parted() -> None:
    source = "\n".join(f"“你好，”他说。第{number}行。" for number in range(20_000))
    chunks = prose.split(source)
    assert max(chunk.end - chunk.start for chunk in chunks) < 5_000
    assert sum(chunk.gap for chunk in chunks) == 1
    one_line = "word " * 200_000
    parts = prose.split(one_line)
    assert "".join(one_line[part.start : part.end] for part in parts) == one_line
    assert max(part.end - part.start for part in parts) <= 20_000
    assert prose.read(one_line).text == one_line


def test_a_fence_holds_blank_lines_together() -> None:
    assert len(prose.split("```\na\n\nb\n```\n\nafter")) == 2
    assert prose.split("") == [prose.Chunk(0, 0, 0)]
    assert prose.split("\n\n \n") == [prose.Chunk(0, 0, 0)]
