from marginalia_tui.widgets.recall import FOUND, Recall


def recall(*lines: str) -> Recall:
    made = Recall()
    made.lines = lines
    return made


def test_a_walk_goes_back_and_forth_and_ends_in_what_was_typed() -> None:
    past = recall("/a", "/b")
    assert [past.step(step, "/typed") for step in (-1, 1, 1, 1, -1, -1, -1)] == [
        None, "/b", "/a", None, "/b", "/typed", None,
    ]  # fmt: skip


def test_the_newest_line_that_goes_on() -> None:
    past = recall("/get-part 1", "/get-part 2", "/get", "/undo")
    assert past.going_on("/get") == "/get-part 2"
    assert past.going_on("/get-part 1") == ""
    assert past.going_on("/redo") == ""


def test_a_search_wants_all_words_in_any_case() -> None:
    past = recall("/edit-part 1 Lamp", "/get-part 1", "/edit-part 2 oil")
    assert past.search("") == ["/edit-part 2 oil", "/get-part 1", "/edit-part 1 Lamp"]
    assert past.search("LAMP edit") == ["/edit-part 1 Lamp"]
    assert past.search("part 1") == ["/get-part 1", "/edit-part 1 Lamp"]
    assert past.search("nothing") == []
    assert len(recall(*(f"/{number}" for number in range(200))).search("/")) == FOUND
