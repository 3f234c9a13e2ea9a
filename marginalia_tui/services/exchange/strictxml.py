"""XML that a program wrote and that must be well-formed: no entity is expanded, nothing is loaded."""

import re
from typing import Any

from lxml import etree

from marginalia_tui.domain.errors import Invalid, Refused

_DECLARES = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def read_xml(data: bytes, name: str) -> Any:
    """The root element of a document.

    Args:
        data: the bytes.
        name: how the file is called in a sentence.

    Raises:
        Invalid: it is not well-formed, or nested too deeply.
        Refused: it declares entities or a document type, which no such file needs.
    """
    refused = Refused(f"{name} declares entities, as an attack does and no program that writes books: it was not read.")
    if _DECLARES.search(data):
        raise refused
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise Invalid(f"{name} is damaged (its XML is not whole): save or export it again.") from error
    # Other encodings hide the declaration from the look above.
    described: Any = root.getroottree().docinfo
    if described.doctype:
        raise refused
    return root
