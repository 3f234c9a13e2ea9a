"""The package of a DOCX: which part is what, and what in it is no text. Only parts that are needed are read.

Nothing that the package names outside of itself is ever followed: relations to elsewhere are counted, and of those
the addresses of links to the web are kept as text.
"""

import posixpath
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.markup import local_name
from marginalia_tui.services.exchange.strictxml import read_xml


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a part: the end of its type, and where it leads (`external`: outside of the package)."""

    kind: str
    target: str
    external: bool


@dataclass(slots=True)
class Package:
    """An open DOCX."""

    archive: Archive
    name: str
    main: str
    relations: dict[str, Relation]
    """Those of the text, by id."""
    roots: dict[str, Any] = field(default_factory=dict)

    def part(self, kind: str) -> Any:
        """The root of the part that the text has for something (`styles`, `footnotes`, ...), None without one."""
        where = self.name_of(kind)
        return self.root(where) if where else None

    def name_of(self, kind: str) -> str:
        """The name of that part, empty without one."""
        for relation in self.relations.values():
            if relation.kind == kind and not relation.external:
                where = self.archive.written_as(resolve(self.archive, self.main, relation.target))
                return where if where in self.archive else ""
        return ""

    def root(self, where: str) -> Any:
        """The root of the part of that name."""
        if where not in self.roots:
            self.roots[where] = read_xml(self.archive.read(where), self.name)
        return self.roots[where]

    def relations_of(self, where: str) -> dict[str, Relation]:
        """The relations of a part, by id."""
        return read_relations(self.archive, where, self.name)


def open_package(archive: Archive, name: str) -> Package:
    """Opens a DOCX.

    Raises:
        Invalid: it is a zip file but no DOCX, or damaged.
        Refused: it is built like an attack.
    """
    for relation in read_relations(archive, "", name).values():
        if relation.kind == "officeDocument" and not relation.external:
            main = archive.written_as(resolve(archive, "", relation.target))
            break
    else:
        main = archive.written_as("word/document.xml")
    if main not in archive:
        raise Invalid(f"{name} is a zip file but no Word document: give a book as DOCX, EPUB, Markdown or plain text.")
    root = read_xml(archive.read(main), name)
    if local_name(root) != "document":
        raise Invalid(f"{name} is an Office file but no text: give a book as DOCX, EPUB, Markdown or plain text.")
    return Package(archive, name, main, read_relations(archive, main, name), {main: root})


def resolve(archive: Archive, base: str, target: str) -> str:
    """The entry that a relation of the part `base` leads to; a leading slash means the root of the package."""
    return archive.inside("", target[1:]) if target.startswith("/") else archive.inside(base, target)


def read_relations(archive: Archive, part: str, name: str) -> dict[str, Relation]:
    """The relations of a part by id; those of the package for an empty name."""
    folder, file = posixpath.split(part)
    where = archive.written_as(posixpath.join(folder, "_rels", f"{file}.rels"))
    if where not in archive:
        return {}
    found = {}
    for element in read_xml(archive.read(where), name):
        if local_name(element) == "relationship":
            kind = (element.get("Type") or "").rpartition("/")[2]
            external = (element.get("TargetMode") or "").lower() == "external"
            found[element.get("Id") or ""] = Relation(kind, element.get("Target") or "", external)
    return found


@dataclass(frozen=True, slots=True)
class Cargo:
    """What a package holds beside text: numbers of macro projects, embedded objects, relations to elsewhere."""

    macros: int
    objects: int
    external: int


def cargo_of(package: Package) -> Cargo:
    """Counts it, by the names of the entries and by all relations; links to the web are no cargo."""
    names = [name.lower() for name in package.archive.names()]
    macros = sum(name.endswith("vbaproject.bin") for name in names)
    objects = sum("/embeddings/" in name or "/activex/" in name and name.endswith(".bin") for name in names)
    external = 0
    for name in package.archive.names():
        if name.lower().endswith(".rels") and "_rels/" in name:
            folder, _, file = name.rpartition("_rels/")
            relations = read_relations(package.archive, folder + file[: -len(".rels")], package.name)
            external += sum(each.external and each.kind != "hyperlink" for each in relations.values())
            objects += sum(each.kind == "aFChunk" for each in relations.values())
    return Cargo(macros, objects, external)
