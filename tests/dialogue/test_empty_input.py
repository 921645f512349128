"""Empty input: the grading table of CONVERSATION §4, row by row."""

from __future__ import annotations

import pytest

from vanling.dialogue.empty_input import EmptyInput, EmptyKind, Verdict
from vanling.dialogue.phrases import Phrase, empty_prompt, phrase

P, G, S = Verdict.PROMPT, Verdict.GIVE_UP, Verdict.SILENT


def judge(
    counter: EmptyInput, *, manual: bool = False, stop: bool = False, voiced_ms: float = 0.0
) -> tuple[object, ...]:
    judgement = counter.judge(hands_free=not manual, explicit_stop=stop, voiced_ms=voiced_ms)
    return judgement.verdict, judgement.kind, judgement.grade


@pytest.mark.parametrize("voiced_ms", [0, 100, 3_000])
def test_manual_prompts_every_press_alike(voiced_ms: float) -> None:
    counter = EmptyInput()
    for _ in range(10):
        assert judge(counter, manual=True, stop=True, voiced_ms=voiced_ms) == (P, EmptyKind.MANUAL, 1)


def test_auto_spoke_closes_with_a_sentence_at_the_third() -> None:
    counter = EmptyInput()
    assert [judge(counter, voiced_ms=600) for _ in range(3)] == [
        (P, EmptyKind.AUTO_SPOKE, 1),
        (P, EmptyKind.AUTO_SPOKE, 2),
        (G, EmptyKind.AUTO_SPOKE, 3),
    ]


@pytest.mark.parametrize(("woken", "kind"), [(False, EmptyKind.SILENCE), (True, EmptyKind.WAKE)])
def test_silence_and_wake_give_up_without_a_word(woken: bool, kind: EmptyKind) -> None:
    counter = EmptyInput()
    if woken:
        counter.woken()
    assert [judge(counter, stop=True) for _ in range(3)] == [(P, kind, 1), (P, kind, 2), (G, kind, 0)]


@pytest.mark.parametrize("voiced_ms", [1, 64, 599])
def test_a_cough_is_silent_and_not_counted(voiced_ms: float) -> None:
    counter = EmptyInput()
    for _ in range(10):
        assert judge(counter, voiced_ms=voiced_ms)[0] is S
    assert judge(counter, voiced_ms=600) == (P, EmptyKind.AUTO_SPOKE, 1)


def test_no_voice_and_no_stop_is_silent() -> None:
    assert judge(EmptyInput())[0] is S


def test_kinds_share_one_count() -> None:
    counter = EmptyInput()
    assert judge(counter, voiced_ms=700)[2] == 1
    assert judge(counter, stop=True)[2] == 2
    assert judge(counter, voiced_ms=700)[:2] == (G, EmptyKind.AUTO_SPOKE)


def test_manual_leaves_the_count_no_higher() -> None:
    counter = EmptyInput()
    judge(counter, voiced_ms=700)
    for _ in range(5):
        judge(counter, manual=True, stop=True)
    assert judge(counter, voiced_ms=700)[0] is P


@pytest.mark.parametrize("reset", [EmptyInput.words, EmptyInput.woken])
def test_words_and_a_wake_begin_anew(reset: object) -> None:
    counter = EmptyInput()
    judge(counter, voiced_ms=700)
    judge(counter, voiced_ms=700)
    reset(counter)  # type: ignore[operator]
    assert judge(counter, voiced_ms=700)[2] == 1


def test_wake_sticks_until_words_come() -> None:
    counter = EmptyInput()
    counter.woken()
    assert judge(counter, voiced_ms=700)[1] is EmptyKind.WAKE
    assert judge(counter, stop=True)[1] is EmptyKind.WAKE
    counter.words()
    assert judge(counter, stop=True)[1] is EmptyKind.SILENCE


def test_after_giving_up_it_begins_anew() -> None:
    counter = EmptyInput()
    verdicts = [judge(counter, voiced_ms=700)[0] for _ in range(6)]
    assert verdicts == [P, P, G, P, P, G]


# --- their wording ----------------------------------------------------------------------------------------------------


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize("language", ["en", "zh", "zh-CN", "ZH", "de", "auto", ""])
@pytest.mark.parametrize("kind", [kind for kind in EmptyKind if kind is not EmptyKind.CONTINUING])
@pytest.mark.parametrize("grade", [1, 2, 3, 9])
def test_every_prompt_has_words_in_the_voice_s_language(language: str, kind: EmptyKind, grade: int) -> None:
    sentence = empty_prompt(kind, grade, language)
    assert sentence
    assert is_chinese(sentence) is language.lower().startswith("zh")
    assert sentence[-1] in ".?。？！"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_graded_kinds_say_more_the_second_time(language: str) -> None:
    for kind in (EmptyKind.WAKE, EmptyKind.AUTO_SPOKE, EmptyKind.SILENCE):
        assert empty_prompt(kind, 1, language) != empty_prompt(kind, 2, language)
    assert empty_prompt(EmptyKind.AUTO_SPOKE, 3, language) not in (
        empty_prompt(EmptyKind.AUTO_SPOKE, 1, language),
        empty_prompt(EmptyKind.AUTO_SPOKE, 2, language),
    )
    assert empty_prompt(EmptyKind.MANUAL, 1, language) == empty_prompt(EmptyKind.MANUAL, 2, language)
    assert empty_prompt(EmptyKind.CONTINUING, 1, language) == ""


def test_every_phrase_exists_in_both_languages() -> None:
    for which in Phrase:
        assert phrase(which, "en")
        assert not is_chinese(phrase(which, "en"))
        assert is_chinese(phrase(which, "zh"))
