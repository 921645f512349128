"""Packaged models: pinned, checked, remembered; and files prepared from them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vanling.engines import checksum
from vanling.engines.build import BuildContext
from vanling.engines.checksum import file_sha256, remembered_sha256
from vanling.engines.models import PACKAGED, ModelFile, PackagedModel
from vanling.engines.prepared import prepared
from vanling.errors import EngineUnavailableError


@pytest.mark.parametrize("model", PACKAGED, ids=lambda model: model.name)
def test_installed_models_are_the_pinned_ones(model: PackagedModel) -> None:
    if model.folder() is None:
        pytest.skip(f"not installed: {model.distribution}")
    assert model.installed()
    assert model.verify() == []
    assert model.size > 1_000_000


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    folder = tmp_path / "tiny_model_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('a model package was imported')")
    (folder / "weights.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    digest = file_sha256(folder / "weights.bin")
    return PackagedModel(
        "tiny", "asr", "en", "MIT", "tiny-model", folder.name, "1.0", "embedded", (ModelFile("weights.bin", 7, digest),)
    )


def test_a_model_is_found_without_importing_its_package(package: PackagedModel, tmp_path: Path) -> None:
    assert package.installed()
    assert package.require(BuildContext(tmp_path))[0].read_bytes() == b"weights"


def test_a_changed_model_is_refused(package: PackagedModel, tmp_path: Path) -> None:
    context = BuildContext(tmp_path)
    (path,) = package.require(context)
    path.write_bytes(b"w31ghts")
    os.utime(path, ns=(1, 1))
    assert package.installed()
    assert "SHA-256" in package.verify()[0]
    with pytest.raises(EngineUnavailableError, match=r"force-reinstall tiny-model==1\.0"):
        package.require(context)
    path.unlink()
    assert not package.installed()
    assert "missing" in package.verify()[0]


def test_a_missing_package_says_what_to_install(tmp_path: Path) -> None:
    model = PackagedModel("x", "asr", "en", "MIT", "x-model", "no_such_package_x", "1", "embedded", ())
    assert not model.installed()
    assert "vanling[embedded]" in model.verify()[0]
    with pytest.raises(EngineUnavailableError, match="x-model"):
        model.require(BuildContext(tmp_path))


def test_a_checksum_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    first = remembered_sha256(path, BuildContext(tmp_path))
    monkeypatch.setattr(checksum, "file_sha256", lambda _path: "computed again")
    assert remembered_sha256(path, BuildContext(tmp_path)) == first
    path.write_bytes(b"other content")
    assert remembered_sha256(path, BuildContext(tmp_path)) == "computed again"


def test_a_damaged_memory_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    context = BuildContext(tmp_path)
    context.prepared_dir.mkdir()
    for damage in ("{", "[]", json.dumps({str(path): 3})):
        (context.prepared_dir / checksum.REMEMBERED).write_text(damage)
        assert remembered_sha256(path, context) == file_sha256(path)


def test_files_are_prepared_once_and_anew_when_changed(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "part").write_bytes(b"part")

    context = BuildContext(tmp_path)
    folder = prepared(context, "thing", make)
    assert prepared(context, "thing", make) == folder
    assert len(made) == 1
    (folder / "part").write_bytes(b"other")
    prepared(context, "thing", make)
    (folder / "part").unlink()
    prepared(context, "thing", make)
    (folder / "files.json").write_text("{")
    prepared(context, "thing", make)
    assert len(made) == 4
    assert (folder / "part").read_bytes() == b"part"


def test_a_failed_preparation_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "part").write_bytes(b"half")
        raise ValueError("no space")

    context = BuildContext(tmp_path)
    with pytest.raises(ValueError, match="no space"):
        prepared(context, "thing", fail)
    assert list(context.prepared_dir.iterdir()) == []
