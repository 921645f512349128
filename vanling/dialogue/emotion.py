"""Emotions: the 21 names that the firmware has faces for, and what models write for them."""

from __future__ import annotations

NEUTRAL = "neutral"

EMOTIONS = frozenset(
    (
        *("neutral", "happy", "laughing", "funny", "sad", "angry", "crying"),
        *("loving", "embarrassed", "surprised", "shocked", "thinking", "winking", "cool"),
        *("relaxed", "delicious", "kissy", "confident", "sleepy", "silly", "confused"),
    )
)
"""Names of the XiaoZhi firmware's emoji table; anything else leaves a device's face as it is."""

SYNONYMS = {
    # Names of other prompts and devices; the first group is the seed's own list of tags.
    **{"shy": "embarrassed", "smug": "confident", "sad_smile": "relaxed", "sad_tear": "crying", "tears": "crying"},
    **{"mouth_open": "surprised", "helpless": "confused", "speaking": "neutral", "listening": "neutral"},
    **{"waiting": "neutral"},
    **{"joy": "happy", "joyful": "happy", "smile": "happy", "smiling": "happy", "cheerful": "happy", "glad": "happy"},
    **{"excited": "happy", "proud": "confident", "grateful": "happy", "hopeful": "happy", "playful": "silly"},
    **{"laugh": "laughing", "laughs": "laughing", "amused": "funny", "giggle": "laughing", "giggles": "laughing"},
    **{"sadness": "sad", "sorry": "sad", "disappointed": "sad", "worried": "sad", "cry": "crying"},
    **{"anger": "angry", "mad": "angry", "annoyed": "angry", "frustrated": "angry"},
    **{"love": "loving", "affectionate": "loving", "kiss": "kissy", "wink": "winking"},
    **{"surprise": "surprised", "amazed": "surprised", "astonished": "shocked", "scared": "shocked"},
    **{"fear": "shocked", "afraid": "shocked", "think": "thinking", "thoughtful": "thinking", "curious": "thinking"},
    **{"calm": "relaxed", "peaceful": "relaxed", "hungry": "delicious", "yummy": "delicious"},
    **{"tired": "sleepy", "bored": "sleepy", "puzzled": "confused", "unsure": "confused", "ashamed": "embarrassed"},
}
"""Other names that models use, each to the nearest face."""

_PICTURES = {
    "happy": "🙂😊😀😃😄😁☺🎉🥳🤗🌞👍",
    "laughing": "😆😹",
    "funny": "😂🤣🤡",
    "sad": "😔🙁☹😞😟😥😢💔",
    "angry": "😠😡🤬👿😤",
    "crying": "😭",
    "loving": "😍🥰❤♥💕💖💗💓💞💙💚💛💜🧡🤍😻💝",
    "embarrassed": "😳🙈😅",
    "surprised": "😯😮😲",
    "shocked": "😱🤯😨😧",
    "thinking": "🤔🧐",
    "winking": "😉",
    "cool": "😎🆒",
    "relaxed": "😌🧘",
    "delicious": "🤤😋",
    "kissy": "😘😗😙😚💋",
    "confident": "😏💪🦾",
    "sleepy": "😴😪🥱💤",
    "silly": "😜🤪😝😛",
    "confused": "🙄😕🤷😵",
    "neutral": "😐😶",
}

PICTURE_EMOTIONS = {picture: emotion for emotion, pictures in _PICTURES.items() for picture in pictures}
"""Emoji that set a face; the firmware's own 21 among them. All others are just removed."""


def emotion_named(name: str) -> str | None:
    """The firmware's name for what a model calls an emotion; None where the word is none."""
    name = name.strip().lower().replace(" ", "_").replace("-", "_")
    return name if name in EMOTIONS else SYNONYMS.get(name)
