"""Notes the user's lines that led to functions which the virtual GPU does not model."""

import ctypes
import os

from . import lines
from .notices import guarded


def library():
    """Returns the library of the virtual GPU, which this process has loaded under NVIDIA's names, or None."""
    try:
        path = os.path.join(os.environ["SNAPSCOPE_VIRTUAL_GPU_FOLDER"], "libsnapscope_virtual_gpu.so")
        return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except (KeyError, OSError):
        return None


def listen(rows):
    """Appends a row at the first call of each function; returns what has to live as long as the process."""
    found = library()
    try:
        set_listener = found.snapscopeOnUnsupported
    except AttributeError:
        return None

    @ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int)
    @guarded
    def called(function, name, status):
        file, line, _ = lines.user_line() or (None, None, None)
        rows.append({"function": f"{function.decode()} ({name.decode()})", "file": file, "line": line})

    set_listener(called)
    return called
