"""Attributes and events of OpenTelemetry's conventions for generative AI.

https://github.com/open-telemetry/semantic-conventions-genai. All of them are in development: names
of earlier versions are read too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from ragstone.data.readers.traces import payloads
from ragstone.data.readers.traces.span import Kind, Operation

NAME: Final = "OpenTelemetry GenAI"
VERSION: Final = "semantic-conventions 1.26 to 1.41, semantic-conventions-genai 0.1.0"
"""The versions that this file was written against; a span may carry its own in its schema URL."""
_MARKS: Final = ("gen_ai.operation.name", "gen_ai.request.model", "gen_ai.system")
"""Attributes of which a span of the convention has one; before 1.27 there was no operation name."""
_KINDS: Final[Mapping[str, Kind]] = {
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "retrieval": "retrieval",
    "invoke_agent": "system",
    "invoke_workflow": "system",
}
_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event that carries messages, if the span does not."""
_MESSAGES: Final = ("system", "user", "assistant", "tool")
"""Roles of the events `gen_ai.ROLE.message`, one per message, of versions before 1.37."""
Events: TypeAlias = Sequence[tuple[str, Mapping[str, Any]]]
"""Name and attributes of each event of a span."""


def is_genai(attributes: Mapping[str, Any]) -> bool:
    """Return whether a span follows the convention."""
    return any(name in attributes for name in _MARKS)


def read_genai(attributes: Mapping[str, Any], events: Events) -> Operation:
    """Return the operation that attributes and events of a span of the convention describe."""
    kind = _KINDS.get(str(attributes.get("gen_ai.operation.name", "chat")), "other")
    if kind == "retrieval" or (kind == "other" and "gen_ai.retrieval.documents" in attributes):
        found = payloads.loaded(attributes.get("gen_ai.retrieval.documents"))
        query = attributes.get("gen_ai.retrieval.query.text")
        passages = payloads.passages_in(found)
        return Operation("retrieval", NAME, payloads.query_text(query), passages=passages)
    if kind == "other":
        return Operation(kind, NAME)
    details = next((values for name, values in events if name == _DETAILS), {})
    given = {**details, **attributes}
    asked, told = _asked(given, events), _told(given, events)
    return Operation(
        kind,
        NAME,
        payloads.query_text(asked),
        payloads.answer_text(told),
        prompt=payloads.all_texts([given.get("gen_ai.system_instructions"), asked]),
        tokens_in=_tokens(given, "input_tokens", "prompt_tokens"),
        tokens_out=_tokens(given, "output_tokens", "completion_tokens"),
    )


def _tokens(given: Mapping[str, Any], *names: str) -> int | None:
    counts = (payloads.count(given.get(f"gen_ai.usage.{name}")) for name in names)
    return next((found for found in counts if found is not None), None)


def _asked(given: Mapping[str, Any], events: Events) -> Any:
    """Return the messages to the model, from the newest form that the span has."""
    if messages := payloads.loaded(given.get("gen_ai.input.messages")):
        return messages
    turns = [
        {"role": role, "content": _body(values).get("content")}
        for name, values in events
        for role in _MESSAGES
        if name == f"gen_ai.{role}.message"
    ]
    return turns or _before(given, events, "prompt")


def _told(given: Mapping[str, Any], events: Events) -> Any:
    """Return the messages of the model."""
    if messages := payloads.loaded(given.get("gen_ai.output.messages")):
        return messages
    choices = [_body(values) for name, values in events if name == "gen_ai.choice"]
    if choices:
        return payloads.loaded(choices[0].get("message", choices[0].get("content")))
    return _before(given, events, "completion")


def _body(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of an event: its attributes, and its body if that is an attribute."""
    bodies = (payloads.loaded(values.get(name)) for name in ("event.body", "gen_ai.event.content"))
    return {**values, **next((body for body in bodies if isinstance(body, dict)), {})}


def _before(given: Mapping[str, Any], events: Events, side: str) -> Any:
    """Return the prompt or completion of versions up to 1.26, and of OpenLLMetry's attributes."""
    name = f"gen_ai.{side}"
    held = next((v for event, v in events if event == f"gen_ai.content.{side}"), given)
    return payloads.loaded(held.get(name)) or payloads.indexed(given, name)
