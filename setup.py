"""Build the audio core. The metadata is in pyproject.toml; here are only the compiled modules and their libopus.

The codec's shared library is copied beside the compiled modules, so a wheel carries what it was linked to. See
``find_opus`` for where it comes from.
"""

import os
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

MAC = sys.platform == "darwin"
# Not the usual libopus.so.0: the loader goes by this name, and a libopus that another library of the process has loaded
# before us would silently be used in place of ours. As long as the original name, so that it can be patched in place.
BUNDLED = "libopus_v.dylib" if MAC else "libopus_v.so"

PT_LOAD, PT_DYNAMIC = 1, 2
DT_STRTAB, DT_SONAME = 5, 14


class Opus(NamedTuple):
    """Where the codec to build against was found."""

    library: Path
    include: list[str]


def find_opus() -> Opus:
    """VANLING_OPUS_PREFIX, else the opuslib-next-bundled build requirement, else pkg-config."""
    if prefix := os.environ.get("VANLING_OPUS_PREFIX"):
        found = _in_prefix(Path(prefix))
        if not found:
            raise SystemExit(f"VANLING_OPUS_PREFIX={prefix} has no libopus under lib/ with include/opus/opus.h")
        return found
    found = _in_build_requirement() or _by_pkg_config()
    if not found:
        raise SystemExit(
            "libopus was not found. Build with isolation (plain `pip install .` fetches opuslib-next-bundled), "
            "or install libopus-dev and pkg-config, or set VANLING_OPUS_PREFIX to a prefix with lib/ and include/opus/."
        )
    return found


def _in_prefix(prefix: Path) -> Opus | None:
    for folder in (prefix / "lib", prefix / "lib64", *sorted((prefix / "lib").glob("*-linux-*"))):
        for name in ("libopus.0.dylib", "libopus.dylib") if MAC else ("libopus.so.0", "libopus.so"):
            if (folder / name).exists() and (prefix / "include/opus/opus.h").exists():
                return Opus(folder / name, [str(prefix / "include/opus"), str(prefix / "include")])
    return None


def _in_build_requirement() -> Opus | None:
    spec = find_spec("opuslib_next")  # found, not imported: importing it loads the library into the build
    for package in (spec.submodule_search_locations or []) if spec else []:
        native = Path(package) / "_native"
        for name in ("libopus.dylib", "libopus.0.dylib") if MAC else ("libopus.so", "libopus.so.0"):
            if (native / name).exists() and (native / "include/opus/opus.h").exists():
                return Opus(native / name, [str(native / "include/opus"), str(native / "include")])
    return None


def _by_pkg_config() -> Opus | None:
    try:
        prefix, libdir, flags = (
            subprocess.run(["pkg-config", what, "opus"], check=True, capture_output=True, text=True).stdout.strip()
            for what in ("--variable=prefix", "--variable=libdir", "--cflags-only-I")
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    include = [flag[2:] for flag in flags.split()] or [f"{prefix}/include/opus"]
    for name in ("libopus.0.dylib",) if MAC else ("libopus.so.0", "libopus.so"):
        if (Path(libdir) / name).exists():
            return Opus(Path(libdir) / name, include)
    return None


def stage_opus(library: Path, folder: Path) -> Path:
    """Copy the library to ``folder`` under our own name, which it also bears inside."""
    folder.mkdir(parents=True, exist_ok=True)
    staged = folder / BUNDLED
    staged.unlink(missing_ok=True)
    shutil.copyfile(library.resolve(), staged)
    staged.chmod(0o755)
    if MAC:
        subprocess.run(["install_name_tool", "-id", f"@rpath/{BUNDLED}", str(staged)], check=True)
        subprocess.run(["codesign", "--force", "--sign", "-", str(staged)], check=True)
    else:
        staged.write_bytes(_with_soname(staged.read_bytes(), BUNDLED.encode()))
    return staged


def _with_soname(elf: bytes, name: bytes) -> bytes:
    """The same shared object with another DT_SONAME of at most the old one's length."""
    if elf[:4] != b"\x7fELF":
        raise SystemExit("the libopus found is not an ELF library")
    wide, order = elf[4] == 2, "<" if elf[5] == 1 else ">"
    word = "Q" if wide else "I"
    (headers,) = struct.unpack_from(order + word, elf, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", elf, 54 if wide else 42)
    # A program header begins with type, (flags,) file offset, virtual address, physical address, size in the file.
    form = order + ("I4x" if wide else "I") + 4 * word
    segments = [struct.unpack_from(form, elf, headers + i * size) for i in range(count)]
    dynamic = next(elf[offset : offset + length] for kind, offset, _, _, length in segments if kind == PT_DYNAMIC)
    tags = dict(struct.iter_unpack(order + 2 * word, dynamic))
    table = tags[DT_STRTAB]
    strings = next(
        offset + table - address
        for kind, offset, address, _, length in segments
        if kind == PT_LOAD and address <= table < address + length
    )
    at = strings + tags[DT_SONAME]
    old = elf[at : elf.index(b"\0", at)]
    if len(name) > len(old):
        raise SystemExit(f"cannot rename the libopus found: its name {old!r} is shorter than {name!r}")
    return elf[:at] + name.ljust(len(old), b"\0") + elf[at + len(old) :]


class BuildCore(build_ext):
    """Links the opus module to a staged copy of libopus and puts that copy beside it."""

    def run(self) -> None:
        opus = find_opus()
        staged = stage_opus(opus.library, Path(self.build_temp) / "opus")
        for extension in self.extensions:
            if extension.name == "vanling.core.opus":
                extension.include_dirs += opus.include
                extension.extra_link_args += [
                    str(staged),
                    "-Wl,-rpath,@loader_path" if MAC else "-Wl,-rpath,$ORIGIN",
                ]
        super().run()
        homes = [Path(self.build_lib)] + ([Path()] if self.inplace else [])
        for home in homes:
            package = home / "vanling/core"
            package.mkdir(parents=True, exist_ok=True)
            # Written beside and renamed: a running server may have the old file mapped.
            shutil.copy2(staged, package / f".{BUNDLED}")
            (package / f".{BUNDLED}").replace(package / BUNDLED)

    def get_outputs(self) -> list[str]:
        return [*super().get_outputs(), str(Path(self.build_lib) / "vanling/core" / BUNDLED)]


def core(name: str, *kernels: str) -> Extension:
    return Extension(
        f"vanling.core.{name}",
        [f"csrc/{name}.pyx", *(f"csrc/{kernel}.c" for kernel in kernels)],
        include_dirs=["csrc", np.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        depends=[f"csrc/{kernel}.h" for kernel in kernels] + ["vanling/core/checks.pxd"],
        extra_compile_args=["-O3", "-fno-math-errno", "-fno-trapping-math", "-g0"],
        extra_link_args=[],
    )


setup(
    ext_modules=cythonize(
        [
            core("pcm", "pcm_kernel"),
            core("opus"),
            core("resample", "resample_kernel", "pcm_kernel"),
            core("framing"),
            core("endpoint"),
            core("pacer"),
        ],
        include_path=["."],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "nonecheck": False,
            "embedsignature": True,
            "auto_pickle": False,  # a pickled stream would be half of one: the other half is in libopus
        },
    ),
    cmdclass={"build_ext": BuildCore},
)
