"""gruut's pronunciations behind an index. Its own table has none: every new word costs a scan of 124,000 rows, 7 ms."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from gruut.utils import find_lang_dir

from vanling.engines.build import BuildContext
from vanling.engines.checksum import remembered_sha256
from vanling.engines.prepared import prepared

RECIPE = "1"
FILE = "lexicon.db"
REMEMBERED_WORDS = 4096
_NOT_WORD = re.compile(r"\W")


class Lexicon:
    """Looks words up the way gruut asks: as written, in lower case, then without punctuation."""

    def __init__(self, path: Path) -> None:
        # Made where the server is built, used by the one worker thread of the voice.
        self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._known: dict[str, dict[str, list[str]]] = {}

    def __call__(self, word: str, role: str | None = None, do_transforms: bool = True) -> list[str] | None:
        """Phonemes of a word in its role (part of speech), else in its usual one, else in any; None if unknown."""
        forms = (word, word.lower(), _NOT_WORD.sub("", word), _NOT_WORD.sub("", word.lower()))
        for form in forms if do_transforms else forms[:1]:
            roles = self._roles(form)
            if roles:
                return roles.get(role or "") or roles.get("") or next(iter(roles.values()))
        return None

    def close(self) -> None:
        self._db.close()

    def _roles(self, word: str) -> dict[str, list[str]]:
        roles = self._known.get(word)
        if roles is None:
            roles = {}
            for role, phonemes in self._db.execute(
                "SELECT role, phonemes FROM words WHERE word = ? ORDER BY place", (word,)
            ):
                roles.setdefault(role, phonemes.split())
            if len(self._known) >= REMEMBERED_WORDS:
                self._known.clear()
            self._known[word] = roles
        return roles


def open_lexicon(locale: str, context: BuildContext) -> Lexicon | None:
    """The indexed lexicon of a language, made once; None where gruut has no such table or it cannot be kept."""
    folder = find_lang_dir(locale)
    source = folder / "espeak" / FILE if folder is not None else None
    if source is None or not source.is_file():
        return None
    name = f"lexicon-{RECIPE}-{locale}-{remembered_sha256(source, context)[:16]}"
    try:
        return Lexicon(prepared(context, name, lambda target: _index(source, target / FILE)) / FILE)
    except (OSError, sqlite3.Error):
        return None


def _index(source: Path, target: Path) -> None:
    db = sqlite3.connect(target)
    try:
        db.execute("ATTACH ? AS source", (str(source),))
        db.execute(
            "CREATE TABLE words (word TEXT, place INTEGER, role TEXT, phonemes TEXT, PRIMARY KEY (word, place))"
            " WITHOUT ROWID"
        )
        # Rows with the same role keep gruut's order; the first of each counts.
        db.execute(
            "INSERT INTO words"
            " SELECT word, row_number() OVER (PARTITION BY word ORDER BY pron_order, id), role, phonemes"
            " FROM source.word_phonemes ORDER BY word"
        )
        db.commit()
    finally:
        db.close()
