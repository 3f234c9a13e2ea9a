"""The library as rows: what follows from the books, the folders, what is closed and what is typed."""

from marginalia_tui.desk.shelf import BookLine, FolderLine, Shelf
from marginalia_tui.screens.shelfrows import DEEPEST, columns, found_books, shelf_rows
from marginalia_tui.widgets.table import Row


def book(uuid: str, title: str, folder: str | None = None, *tags: str, agent: str = "") -> BookLine:
    return BookLine(uuid, title, "Ada B.", 2, 1_200, "2026-01-01 09:00", agent, folder, tags)


def folder(uuid: str, parent: str | None, path: str, books: int = 0, agents: tuple[str, ...] = ()) -> FolderLine:
    names = path.split(" / ")
    return FolderLine(uuid, names[-1], parent, path, len(names) - 1, books, 1_200 * books, agents)


SHELF = Shelf(
    books=(
        book("b1", "Alone"),
        book("b2", "Frost", "winter", "draft", "Cold"),
        book("b3", "Thaw", "winter", "cold", agent="Copyeditor"),
        book("b4", "Series bible", "series"),
    ),
    folders=(
        folder("empty", None, "Empty"),
        folder("series", None, "Series", 3, ("Copyeditor", "Proofreader")),
        folder("winter", "series", "Series / Winter", 2, ("Copyeditor",)),
    ),
)


def titles(rows: list[Row]) -> list[str]:
    return [row.cells[0] for row in rows]


def test_books_stand_before_the_folders_beside_them_and_each_in_its_own() -> None:
    rows = shelf_rows(SHELF, frozenset())
    assert titles(rows) == [
        "Alone",
        "- Empty  (empty)",
        "- Series  (3 books)",
        "    Series bible",
        "  - Winter  (2 books)",
        "      Frost",
        "      Thaw",
    ]
    assert [row.key for row in rows] == ["b1", "empty", "series", "b4", "winter", "b2", "b3"]
    assert [column.title for column in columns(SHELF)] == ["Title", "Tags", "Parts", "Words", "Last opened", "Agent"]
    assert rows[5].cells == ("      Frost", "draft, Cold", "2", "1,200", "2026-01-01 09:00", "")
    assert [row.cells[-1] for row in rows] == [
        "",
        "",
        "* Copyeditor and 1 more",
        "",
        "* Copyeditor",
        "",
        "* Copyeditor",
    ]
    assert rows[2].cells[3] == "3,600" and rows[1].cells[3] == ""


def test_what_is_in_a_closed_folder_is_not_shown_however_deep() -> None:
    assert titles(shelf_rows(SHELF, {"series"})) == ["Alone", "- Empty  (empty)", "+ Series  (3 books)"]
    assert titles(shelf_rows(SHELF, {"winter"}))[-1] == "  + Winter  (2 books)"


def test_words_are_found_in_titles_authors_tags_and_folders_and_all_of_them_must_be() -> None:
    def found(words: str) -> list[str]:
        return [each.title for each in found_books(SHELF, words)]

    assert found("fro") == ["Frost"]
    assert found("ADA") == ["Alone", "Frost", "Thaw", "Series bible"]
    assert found("cold") == ["Frost", "Thaw"]
    assert found("#draft") == ["Frost"] and found("#raft") == [] and found("#COL") == ["Frost", "Thaw"]
    assert found("winter thaw") == ["Thaw"] and found("winter alone") == []
    assert found("") == [each.title for each in SHELF.books]


def test_what_is_found_stands_in_its_folders_also_where_those_are_closed() -> None:
    rows = shelf_rows(SHELF, {"series", "winter"}, "#draft")
    assert titles(rows) == ["- Series  (3 books)", "  - Winter  (2 books)", "      Frost"]
    assert titles(shelf_rows(SHELF, frozenset(), "empty")) == ["- Empty  (empty)"]
    assert shelf_rows(SHELF, frozenset(), "nothing has it") == []


def test_a_library_without_tags_has_no_column_for_them_and_depth_has_an_end() -> None:
    paths = [" / ".join(map(str, range(1, depth + 2))) for depth in range(30)]
    folders = tuple(folder(f"f{depth}", f"f{depth - 1}" if depth else None, path) for depth, path in enumerate(paths))
    shelf = Shelf((book("b", "Deep", "f29"),), folders)
    rows = shelf_rows(shelf, frozenset())
    assert [column.title for column in columns(shelf)][1] == "Parts"
    assert all(len(row.cells) == len(columns(shelf)) for row in rows)
    assert len(rows) == 31 and rows[-1].cells[0] == "  " * (DEEPEST + 1) + "Deep"
