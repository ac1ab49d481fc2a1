"""A conversation as a page: what people and models said, in its order, without tools and thoughts."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.files.reader import LARGEST
from vault_tool.importing.sources.foreign_items import ForeignPage, LeftOut
from vault_tool.util.structs import Struct

# The folder of chats below an import's own.
CHATS = "chats"

_SPEAKERS = {"user": "You", "human": "You", "assistant": "Assistant"}


class Said(Struct):
    """One message: the role that the tool gives its speaker, its text, and when it was spoken, if that is known."""

    role: str
    text: str
    at: str = ""


def chat_page(key: str, source_id: str, title: str, messages: Sequence[Said], created: str = "") -> ForeignPage | LeftOut:
    """The page of a conversation; left out where nothing was said in it, or too much for one note."""
    spoken = [message for message in messages if message.text]
    if not spoken:
        return LeftOut(reason="empty-chat")
    first = created or min((message.at for message in spoken if message.at), default="")
    text = "\n\n".join(f"## {_heading(message)}\n\n{message.text}" for message in spoken)
    if len(text.encode("utf-8", "replace")) > LARGEST - 4096:
        return LeftOut(reason="too-large", place=f"{CHATS}/{key}", message="the conversation is longer than a note may be")
    return ForeignPage(
        path=f"{CHATS}/{key}.md", text=text, title=title or "Untitled chat", chat=True, created=first, source_id=source_id
    )


def _heading(message: Said) -> str:
    speaker = _SPEAKERS.get(message.role, message.role or "Unknown")
    return f"{speaker}, {message.at[:16].replace('T', ' ')}" if message.at else speaker
