"""Any course of events leaves a history that every model takes back, within its budget."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.dialogue.valid import assert_valid
from vanling.clock import ManualClock
from vanling.contracts.engines import Message, Role, ToolCall
from vanling.dialogue.conversation import Conversation
from vanling.dialogue.conversation_book import ConversationBook
from vanling.dialogue.tokens import cost
from vanling.dialogue.turn import NoResult

WORDS = st.text("ab 你。", min_size=1, max_size=40).map(lambda text: f"w{text}")
IDS = st.sampled_from(["c0", "c1", "c2", "c3"])
CALLS = st.lists(st.builds(ToolCall, IDS, st.just("tool")), min_size=1, max_size=3, unique_by=lambda call: call.id)


class Course(RuleBasedStateMachine):
    """A device that comes, goes and comes back while its former selves still write."""

    @initialize(tokens=st.sampled_from([0, 20, 60, 200, 10_000]))
    def start(self, tokens: int) -> None:
        self.tokens = tokens
        self.clock = ManualClock()
        self.book = ConversationBook(self.clock, history_tokens=tokens)
        self.owner = self.book.claim("device")
        self.former: list[Conversation] = []
        self.turns = [0]
        self.newest = ""

    # --- the owner ---

    @rule(words=WORDS)
    def speaks(self, words: str) -> None:
        self.owner.user_said(words)
        self._begun(words)

    @rule(words=WORDS)
    def goes_on(self, words: str) -> None:
        self.owner.user_went_on(words)
        self._begun(words)

    @rule()
    def is_answered_again(self) -> None:
        self.owner.reply_again()
        self.turns.append(self.owner.turn)

    @rule()
    def withdraws(self) -> None:
        self.owner.withdraw()
        self.newest = ""

    @rule(text=WORDS | st.just(""), interrupted=st.booleans())
    def hears(self, text: str, interrupted: bool) -> None:
        self.owner.assistant_said(text, interrupted=interrupted)
        assert not self.owner.turn

    @rule(calls=CALLS, text=WORDS | st.just(""), data=st.data())
    def calls(self, calls: list[ToolCall], text: str, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from([self.owner.turn, *self.turns]))
        assert self.owner.called(turn, calls, text) is (turn == self.owner.turn != 0)

    @rule(call=IDS, data=st.data())
    def tool_returns(self, call: str, data: st.DataObject) -> None:
        self.owner.returned(data.draw(st.sampled_from([self.owner.turn, *self.turns])), call, "result")

    @rule(call=IDS)
    def tool_is_the_client_s(self, call: str) -> None:
        self.owner.left_to_client(self.owner.turn, call)

    @rule(call=IDS)
    def client_answers(self, call: str) -> None:
        awaited = NoResult.CLIENT.value
        before = [message.text for message in self.owner.messages()].count(awaited)
        answered = self.owner.output(call, "output")
        after = [message.text for message in self.owner.messages()].count(awaited)
        assert before - after == answered

    @rule(question=WORDS)
    def guesses(self, question: str) -> None:
        before = self.owner.messages()
        prompt = self.owner.prompt(question)
        assert_valid(prompt)
        assert prompt[-1] == Message(Role.USER, question) or self.owner.turn
        assert self._within(prompt)
        assert self.owner.messages() == before

    # --- others ---

    @rule(writes_down=WORDS | st.none())
    def is_taken_over(self, writes_down: str | None) -> None:
        old = self.owner
        if writes_down is not None:
            old.when_lost(lambda: old.assistant_said(writes_down, interrupted=True))
        self._new_owner(released=False)

    @rule(away_ms=st.sampled_from([0, 1, 599_999, 600_000, 10_000_000]))
    def leaves_and_returns(self, away_ms: int) -> None:
        before = self.owner.messages()
        self.owner.release()
        self.clock.advance_ms(away_ms)
        self._new_owner(released=True)
        after = self.owner.messages()
        assert [message.role for message in after] == [message.role for message in before if away_ms < 600_000]

    @precondition(lambda self: self.former)
    @rule(words=WORDS, call=IDS, data=st.data())
    def a_former_owner_writes(self, words: str, call: str, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(self.former))
        before = self.owner.messages()
        old.user_said(words)
        old.user_went_on(words)
        old.assistant_said(words)
        old.withdraw()
        old.reply_again()
        turn = data.draw(st.sampled_from(self.turns))
        assert not old.called(turn, [ToolCall(call, "tool")])
        assert not old.returned(turn, call, words)
        assert not old.output(call, words)
        old.release()
        assert self.owner.messages() == before
        assert not self.owner.over

    # --- always ---

    @invariant()
    def valid(self) -> None:
        messages = self.owner.messages()
        assert_valid(messages)
        assert self._within(messages)
        assert (self.book.owned, self.book.kept) == (1, 0)

    @invariant()
    def the_newest_words_are_there(self) -> None:
        users = [message.text for message in self.owner.messages() if message.role is Role.USER]
        assert not self.newest or users[-1] == self.newest

    def _within(self, messages: list[Message]) -> bool:
        """In the budget, or with nothing left but the newest turn."""
        turns = sum(message.role is Role.USER for message in messages)
        return cost(messages) <= self.tokens or turns <= 1

    def _begun(self, words: str) -> None:
        self.newest = words
        assert self.owner.turn not in (0, *self.turns)
        self.turns.append(self.owner.turn)

    def _new_owner(self, *, released: bool) -> None:
        old = self.owner
        self.owner = self.book.claim("device")
        assert old.over
        assert not self.owner.turn
        waiting = {NoResult.RUNNING.value, NoResult.CLIENT.value}
        assert not waiting & {message.text for message in self.owner.messages()}
        if released and not self.owner.messages():
            self.newest = ""
            self.turns = [0]  # a new conversation counts anew, so its numbers say nothing about the old one's
            self.former = []
            return
        self.former.append(old)


TestCourse = Course.TestCase
TestCourse.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
