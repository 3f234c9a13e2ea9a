import orjson
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.chat import Call, Message, Request
from marginalia_tui.llm.growing import MOST, Conversations
from marginalia_tui.llm.openai_chat import wire_messages

IDS = st.sampled_from(["a", "b", ""])
TEXTS = st.sampled_from(["", " ", "word", "\ud800 half"])
CALLS = st.lists(st.builds(Call, IDS, st.just("f"), st.sampled_from(["{}", '{"x": 1}', '{"x": '])), max_size=3)
MESSAGES = st.one_of(
    st.builds(lambda text: Message(role="user", text=text), TEXTS),
    st.builds(lambda text, calls: Message(role="assistant", text=text, calls=tuple(calls)), TEXTS, CALLS),
    st.builds(lambda text, call: Message(role="tool", text=text, call_id=call), TEXTS, IDS),
)


def sent(conversations: Conversations, *messages: Message, system: str = "Write.") -> object:
    return orjson.loads(orjson.dumps(conversations.messages(Request(system=system, messages=messages))))


def a_round(number: int) -> tuple[Message, Message]:
    call = Call(f"call_{number}", "f", "{}")
    return Message(role="assistant", calls=(call,)), Message(role="tool", text=str(number), call_id=call.id)


@given(st.lists(MESSAGES, max_size=14), st.lists(st.integers(0, 14), max_size=6))
def test_what_is_sent_is_what_a_new_conversation_would_send(messages: list[Message], cuts: list[int]) -> None:
    conversations = Conversations()
    for cut in [*cuts, len(messages)]:
        said = tuple(messages[:cut])
        assert sent(conversations, *said) == wire_messages(Request(system="Write.", messages=said))


def test_each_message_is_made_once() -> None:
    conversations = Conversations()
    rows: list[Message] = [Message(role="user", text="Begin.")]
    before: list[int] = []
    for number in range(30):
        rows.extend(a_round(number))
        conversations.messages(Request(system="", messages=tuple(rows)))
        before.append(len(conversations._latest[0]._kept))
    # The beginning is kept after every round, so that the next one adds two messages.
    assert before == [3 + 2 * number for number in range(30)]
    assert len(conversations._latest) == 1


def test_another_conversation_is_not_mixed_up_with_it() -> None:
    conversations = Conversations()
    for name in range(2 * MOST):
        rows = (Message(role="user", text=f"Book {name}"), *a_round(name))
        assert sent(conversations, *rows, system="") == wire_messages(Request(system="", messages=rows))
        changed = (Message(role="user", text="Other"), *rows[1:])
        assert sent(conversations, *changed, system="") == wire_messages(Request(system="", messages=changed))
    assert len(conversations._latest) == MOST
