"""A line that works and one that does not for every command of the registry, in an order in which they make a story.

`python -m tests.commands.every_command` prints them as a table.
"""

from typing import NamedTuple

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.line import CommandLine


class Row(NamedTuple):
    """What is typed, and words of the answer; what is refused, and words of the sentence.

    `{tmp}` is a folder with the picture `map.png`.
    """

    good: str
    says: str
    bad: str
    refused: str

    @property
    def name(self) -> str:
        """The command."""
        return CommandLine.parse(self.good).name


ROWS = [
    Row(*cells)
    for cells in (
        # Reading
        ("/get-book-info", "The Lamp", "/get-book-info now", "takes no arguments"),
        ("/list-parts 1", "Chapter 3", "/list-parts 7", "no branch '7'"),
        ("/get-part 3", "Rain fell", "/get-part 4", "no part '4'"),
        ("/list-branches", "branch", "/list-branches -1", "offset"),
        ("/list-swipes 3", "swipe", "/list-swipes 9", "no part '9'"),
        ("/get-part-metrics 3", "words", "/get-part-metrics none", "no part 'none'"),
        ("/count-tokens 3", "tokens", "/count-tokens 1 text", "a part or a text"),
        ("/search-parts lamp", "Chapter 1", '/search-parts ""', "empty"),
        ("/find-occurrences r..n regex", "Rain", "/find-occurrences ( regex", "no regular expression"),
        ("/search-library lamp all", "Another", "/search-library lamp shelf", "where"),
        ("/compare-parts 1 2", "lamp", "/compare-parts 1 99", "no part '99'"),
        ("/help get-part", "get-part", "/help nothing-such", "nothing-such"),
        ("/manual review", "review", '/manual "zqxj"', "zqxj"),
        # Writing
        ('/edit-part 3 "the the" the', "Part 3", "/edit-part 3 snow rain", "snow"),
        ('/append-to-part 3 "It stopped."', "Part 3", '/append-to-part 3 ""', "empty"),
        ('/replace-part-text 3 "Rain fell on the roof."', "Part 3", "/replace-part-text 9 text", "no part '9'"),
        ('/set-part-fields 3 "tell it" "a yard at night"', "scene", "/set-part-fields 3", "what should change"),
        (
            "/search-replace-parts lamp lantern",
            "Changed 2 places",
            "/search-replace-parts a b text 1",
            "more than maxHits",
        ),
        ("/undo", "Undone: Search and replace", "/undo twice", "takes no arguments"),
        ("/redo", "Redone: Search and replace", "/redo", "nothing to redo"),
        # Agents
        ("/agent-pause Copyist true", "pauses now", "/agent-pause Nobody", "Nobody"),
        ("/agent-resume", "goes on", "/agent-resume x Nobody", "Nobody"),
        ('/agent-send "Only part 1."', "was told", '/agent-send ""', "Write something"),
        ("/agent-finish", "is done", "/agent-finish Nobody", "Nobody"),
        ("/agent-stop", "is kept", "/agent-stop Nobody", "Nobody"),
        ("/agent-discard", "thrown away", "/agent-discard Nobody", "Nobody"),
        # Structure
        ('/create-part "The end."', "Part 4 is new", '/create-part "[...]"', "left out"),
        ('/insert-part 1 "A page between."', "Part 2 is new", "/insert-part 9 text", "no part '9'"),
        ('/split-part 3 "The lantern"', "part", '/split-part 3 "no such words"', "no such words"),
        ("/merge-part-with-next 3", "part", "/merge-part-with-next 5", "follows"),
        ("/move-part 2 3", "part", "/move-part 2 2", "itself"),
        ("/branch-part 3", "Part 3 is new", "/branch-part 77", "no part '77'"),
        ("/switch-branch 1", "Branch 1 is active", "/switch-branch 99", "no branch '99'"),
        ("/delete-part 5", "Deleted", "/delete-part 99", "no part '99'"),
        # History
        ("/list-versions Chapter\\ 3", "version", "/list-versions 99", "no part '99'"),
        ("/get-version Chapter\\ 3 1", "the the roof", "/get-version 1 99", "no version 99"),
        ("/compare-versions Chapter\\ 3 1", "roof", "/compare-versions 1 99", "no version 99"),
        ("/restore-version Chapter\\ 3 1", "has the text of version 1", "/restore-version 1 99", "no version 99"),
        ("/blame Chapter\\ 3", "author", "/blame 99", "no part '99'"),
        ("/blame-book", "author", "/blame-book 99", "no branch '99'"),
        ("/set-book-history-limit 5", "5 versions", "/set-book-history-limit 0", "1 or more"),
        # Summaries
        ('/set-summary 2 "A lamp was lit."', "summary", '/set-summary 2 " "', "empty"),
        ("/list-summaries", "valid", "/list-summaries 99", "no branch '99'"),
        ("/get-summary 2", "A lamp was lit.", "/get-summary 1", "no summary"),
        ("/check-summaries", "summar", "/check-summaries -1", "offset"),
        ("/revalidate-summaries 2", "summar", "/revalidate-summaries 99", "99"),
        ("/export-summaries", "A lamp was lit.", "/export-summaries 99", "99"),
        ("/remove-summary 2", "removed", "/remove-summary 1", "no summary"),
        # Notes
        ('/create-annotation 1 "Which lamp?" dusk', "created", "/create-annotation 1 note snow", "snow"),
        ("/list-annotations open", "Which lamp?", "/list-annotations closed", "status"),
        ("/get-annotation 1", "Which lamp?", "/get-annotation 9", "no note '9'"),
        ("/search-annotations lamp", "Which", "/search-annotations ( regex", "no regular expression"),
        ('/update-annotation 1 "Which lantern?"', "changed", "/update-annotation 1", "what should change"),
        ("/reattach-annotation 1 Nobody", "changed", "/reattach-annotation 1 snow", "snow"),
        ("/resolve-annotation 1", "done", "/resolve-annotation 1 lost", "status"),
        ("/delete-annotation 1", "deleted", "/delete-annotation 1", "no note '1'"),
        # Lore
        ("/list-lorebooks", "World", "/list-lorebooks -1", "offset"),
        ("/list-lore-entries 1", "Lamp", "/list-lore-entries 99", "no lorebook '99'"),
        ("/get-lore-entry 1.2", "whale oil", "/get-lore-entry 9.9", "9.9"),
        ("/search-lore oil", "Lamp", '/search-lore ""', "empty"),
        ("/preview-lore-activation 1", "Lamp", "/preview-lore-activation 1 text", "a part or a text"),
        ('/create-lore-entry Oil "It burns." World oil', "Oil", '/create-lore-entry ""', "name"),
        ('/update-lore-entry Oil "" "It burns well."', "Oil", "/update-lore-entry Oil", "lookBack"),
        ("/search-replace-lore-entries burns glows", "Changed", "/search-replace-lore-entries ( x regex", "expression"),
        ("/create-lorebook Ships World", "Ships", '/create-lorebook ""', "name"),
        ("/move-lore-entry Oil Ships", "Oil", "/move-lore-entry Oil Nowhere", "Nowhere"),
        ("/copy-lore-entry Oil World", "Oil", "/copy-lore-entry Lamp Nowhere", "Nowhere"),
        ("/delete-lore-entry 1.2", "Deleted 'Lamp'", "/delete-lore-entry 9.9", "9.9"),
        ("/update-lorebook Ships Boats", "Boats", "/update-lorebook Boats", "scanDepth"),
        ("/remove-subbook World Boats", "Boats", "/remove-subbook World Boats", "Boats"),
        ("/add-subbook World Boats", "Boats", "/add-subbook Boats World", "below"),
        ("/delete-lorebook Boats", "Boats", "/delete-lorebook Boats", "Boats"),
        ("/list-all-lorebooks", "Elsewhere", "/list-all-lorebooks maybe", "unused"),
        ("/unlink-lorebook", "World", "/unlink-lorebook", "no lore"),
        ("/link-lorebook World", "World", "/link-lorebook Elsewhere", "has lore"),
        ("/delete-unused-lorebook Spare", "Spare", "/delete-unused-lorebook World", "World"),
        # Images
        ('/add-image 1 {tmp}/map.png "The bay"', "map.png", "/add-image 1 {tmp}/none.png", "no file"),
        ("/list-images", "map.png", "/list-images 99", "no part '99'"),
        ('/caption-image 1 map.png "Low tide"', "map.png", "/caption-image 1 none.png x", "none.png"),
        ("/export-image 1 map.png {tmp}/out.png", "out.png", "/export-image 1 map.png {tmp}/out.png", "exists"),
        ("/remove-image 1 map.png", "taken out", "/remove-image 1 map.png", "map.png"),
        # The book and the library
        ('/set-book-info "The Lantern"', "title", "/set-book-info", "what should change"),
        ('/set-book-tags "sea, draft"', "sea", "/set-book-tags " + "x" * 70, "60 characters"),
        ("/list-tags", "draft", "/list-tags -1", "offset"),
        ('/set-book-prompts "You write."', "master", "/set-book-prompts", "metaSummary"),
        ("/get-book-prompts master", "You write.", "/get-book-prompts none", "prompt"),
        ("/set-book-model", "model", "/set-book-model nobody", "nobody"),
        ("/set-book-backups 50", "50", "/set-book-backups -1", "changes"),
        ("/create-folder Winter", "Winter", '/create-folder ""', "name"),
        ("/create-folder Autumn", "Autumn", "/create-folder Spring Nowhere", "Nowhere"),
        ("/list-folders", "Winter", "/list-folders -1", "offset"),
        ('/update-folder Winter "" de', "Winter", '/update-folder Summer "" de', "Summer"),
        ('/set-folder-prompt Winter turn "Go on."', "turn", "/set-folder-prompt Winter none x", "prompt"),
        ("/move-book Winter", "Winter", "/move-book Summer", "Summer"),
        ("/move-folder Winter", "Winter", "/move-folder Winter Winter", "itself"),
        ("/take-backup {tmp}/book.json", "book.json", "/take-backup {tmp}/book.json", "exists"),
        ("/list-backups", "backup", "/list-backups -1", "offset"),
        ("/restore-backup {tmp}/book.json", "book", "/restore-backup {tmp}/none.json", "none.json"),
        ("/list-trash", "part", "/list-trash -1", "offset"),
        ('/restore-from-trash "The end."', "part", '/restore-from-trash "no such thing"', "no such thing"),
        ("/delete-for-good Boats", "Boats", '/delete-for-good "no such thing"', "no such thing"),
        ("/empty-trash", "Deleted for good", "/empty-trash now", "takes no arguments"),
        ("/delete-folder Autumn", "Autumn", "/delete-folder Winter", "holds 2 books"),
        # Files
        ("/export-lore {tmp}/lore.json", "lore.json", "/export-lore {tmp}/lore.json", "exists"),
        ("/import-lore {tmp}/lore.json", "World", "/import-lore {tmp}/none.json", "no file"),
        ("/export-book {tmp}/book.md", "book.md", "/export-book {tmp}/book.md", "exists"),
        ("/import-book {tmp}/book.md", "The Lantern", "/import-book {tmp}/none.md", "no file"),
        # Statistics
        ("/get-book-statistics today", "words", "/get-book-statistics someday", "range"),
        ("/get-statistics today book", "words", "/get-statistics today week", "by"),
        ("/set-day-goal 500", "500", "/set-day-goal -1", "words"),
        ("/set-book-goal 50000", "50,000", "/set-book-goal -1", "words"),
        ("/get-goals", "500", "/get-goals now", "takes no arguments"),
    )
]


def table() -> str:
    """All rows in Markdown: name, severity, what is typed, what is refused."""
    registry = builtin_registry()
    lines = ["| command | severity | for | good | bad |", "|---|---|---|---|---|"]
    for row in sorted(ROWS, key=lambda each: each.name):
        found = registry.get(row.name)
        severity = found.severity.name.lower() + (", asks first" if found.destructive else "")
        whose = "agents too" if found.for_agents else "the author"
        good, bad = (f"`{line}`" for line in (row.good, row.bad))
        lines.append(f"| {row.name} | {severity} | {whose} | {good} -> {row.says} | {bad} -> {row.refused} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
