"""A message as a file: its subject, sender, date and text."""

from __future__ import annotations

from collections import Counter
from email import message_from_bytes, policy

from ragstone.data.documents.html import parse_page
from ragstone.data.documents.pieces import ParsedFile, Piece, UnreadableFile


def parse_mail(content: bytes, _suffix: str) -> ParsedFile:
    """Return the text of a message; its attachments count as not read."""
    try:
        message = message_from_bytes(content, policy=policy.default)
        heads = {name: str(message[name] or "") for name in ("From", "To", "Date", "Subject")}
        body = message.get_body(("plain", "html"))
        text = str(body.get_content()) if body else ""
        attachments = sum(1 for _ in message.iter_attachments())
    except (LookupError, RecursionError, ValueError) as error:
        raise UnreadableFile(f"it is not a readable message: {error}") from error
    if not any(heads.values()):
        raise UnreadableFile("it is not a message: it has no sender, date or subject")
    is_html = body is not None and body.get_content_type() == "text/html"
    found = parse_page(text).pieces if is_html else [Piece(text.replace("\r\n", "\n"))]
    first = Piece("\n".join(f"{name}: {value}" for name, value in heads.items() if value))
    return ParsedFile(
        [first, *found], heads["Subject"], Counter({"attachments that are not read": attachments})
    )
