"""Tells the virtual GPU what the next copies from the device to the host have to read."""

import contextlib
import ctypes
import struct
import threading

from .. import unsupported
from ..notices import tried

_library = None
_thread = threading.local()
_is_sought = False


def _find():
    """Returns the library of the virtual GPU, which this process has loaded under other names."""
    global _library, _is_sought
    if not _is_sought:
        _is_sought = True
        try:
            library = unsupported.library()
            library.snapscope_answer_read.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            _library = library
        except AttributeError:
            pass
    return _library


def _packed(answers):
    return [struct.pack(form, *values) for form, *values in answers]


def is_answering():
    """Returns true if answers of this thread wait for a read."""
    return getattr(_thread, "answers", False)


@contextlib.contextmanager
def answering(*answers):
    """Answers the reads of this thread, in order; each answer is (format of struct, *values)."""
    library = _find()
    told = tried([], _packed, answers)
    if library is None or not told:
        yield
        return
    for data in told:
        library.snapscope_answer_read(data, len(data))
    _thread.answers = True
    try:
        yield
    finally:
        _thread.answers = False
        library.snapscope_forget_answers()
