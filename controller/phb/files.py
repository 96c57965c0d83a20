"""Files that users name: policies, inventories, certificates, programs, captures. All are opened and read here.

What a name stands for may be anything. A pipe without a writer, a terminal or a device never ends, and a reader that
waits for it can't be stopped; so only regular files are read, and none beyond a size.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO, Final

from phb.encodings import decode
from phb.errors import InputError
from phb.origin import Origin

LARGEST: Final = 64 << 20
"""Bytes of the largest file that is read as a whole: ten thousand rules are some two million."""


def open_file(path: str | Path, expected: str, error: type[InputError] = InputError) -> BinaryIO:
    """Open a regular file, without ever waiting for it.

    `expected` is what an error asks for instead, such as ``a readable policy file``.

    Raises:
        InputError: It isn't there, isn't readable, or is no regular file.
    """
    origin = Origin(str(path))
    try:
        # A pipe is opened at once, as a file is; what it is can be seen then.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(as_text(path).encode(), flags)
    except UnicodeError:
        raise error(origin, "a file name that isn't UTF-8", expected) from None
    except ValueError:
        raise error(origin, "a name that no file can have", expected) from None
    except OSError as problem:
        raise error(origin, in_words(problem), expected) from None
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise error(origin, _KINDS.get(stat.S_IFMT(kind), "a special file"), expected)


def read_bytes(path: str | Path, expected: str, error: type[InputError] = InputError) -> bytes:
    """Read a regular file of at most `LARGEST` bytes; arguments and errors as `open_file`."""
    with open_file(path, expected, error) as file:
        try:
            # One more than is taken: a file may grow while it is read, or tell no size, as those of /proc do.
            content = file.read(LARGEST + 1)
        except OSError as problem:
            raise error(Origin(str(path)), in_words(problem), expected) from None
    if len(content) > LARGEST:
        raise error(Origin(str(path)), f"more than {LARGEST >> 20} MiB", expected)
    return content


def read_text(path: str | Path, expected: str, error: type[InputError] = InputError) -> str:
    """Read a regular file as UTF-8; arguments and errors as `open_file`."""
    return decoded(read_bytes(path, expected, error), str(path), error)


def state_of(path: str | Path) -> tuple[int, ...]:
    """Tell this content of a file from another one, without reading it; nothing where it isn't there.

    The last two are times in ns since 1970, of its content and of anything about it.
    """
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def as_text(path: str | Path) -> str:
    """Give a file's name as text, whatever the locale; a UnicodeError where its octets are no text."""
    return os.fspath(path).encode("utf-8", "surrogateescape").decode("utf-8")


def decoded(content: bytes, name: str, error: type[InputError] = InputError) -> str:
    """Decode a file as UTF-8 or, behind a byte-order mark, UTF-16; every kind of line end becomes one line feed."""
    read = decode(content, name, error)
    if read.error is not None:
        raise read.error
    return read.text


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole: one that is there stays as it is until the new one is complete.

    Raises:
        OSError: It can't be written; nothing has changed.
    """
    if path.exists() and not path.is_file():
        # A pipe or a terminal is written to as it is.
        path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def check_output(path: Path, option: str) -> None:
    """Refuse, before long work, a file of an option that can't be written as far as is known by then.

    Raises:
        InputError: It is a folder, or its folder isn't there or takes no files.
    """
    folder = path.resolve().parent
    wrong = None
    if path.is_dir():
        wrong = errno.EISDIR
    elif not folder.is_dir():
        wrong = errno.ENOTDIR if folder.exists() else errno.ENOENT
    elif not path.exists() and not os.access(folder, os.W_OK | os.X_OK):
        wrong = errno.EACCES
    if wrong is not None:
        raise _unwritable(path, option, OSError(wrong, os.strerror(wrong)))


def write_output(path: Path, text: str, option: str) -> None:
    """Write the file of an option.

    Raises:
        InputError: It can't be written; nothing has changed.
    """
    try:
        write_text(path, text)
    except OSError as error:
        raise _unwritable(path, option, error) from None


def _unwritable(path: Path, option: str, error: OSError) -> InputError:
    return InputError(Origin(option), f"'{path}' ({in_words(error)})", "a file to write")


def in_words(error: OSError) -> str:
    """Give the system's words for an error, as they stand in a sentence."""
    words = error.strerror or str(error)
    return words[:1].lower() + words[1:]


_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
