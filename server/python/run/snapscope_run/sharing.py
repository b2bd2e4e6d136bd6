"""Runs a script many times with one import of torch: `snapscope fix` starts a process that imports it and waits, and each
run is a fork of that.

Invariant: a fork behaves as a process that imports torch when the script does. It restarts without sharing where the
script has changed its environment by then, because torch has read the environment, and where the script compiles.
"""

import contextlib
import importlib.machinery
import json
import os
import select
import signal
import socket
import struct
import sys

# The program that runs scripts, below the hook's folder.
_MAIN = os.path.join("snapscope_run", "remedies", "main.py")

# Set where a fork has restarted.
_UNSHARED = "SNAPSCOPE_UNSHARED"

# Variables that runs may have of their own; nothing that was imported has read them.
_OWN = {"GLIBC_TUNABLES", "LD_AUDIT", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TRITON_LIBCUDA_PATH"}

_LENGTH = struct.Struct("!I")


def hand_over(path, folder):
    """Has the process at this socket run the script with the hook of `folder`, and ends as it ends; returns where it
    does not."""
    environ = dict(os.environ)
    argv = sys.argv[1:] if sys.argv[0] == os.path.join(folder, _MAIN) else sys.argv
    if environ.pop(_UNSHARED, None) or not argv[0].endswith(".py"):
        return
    command = list(getattr(sys, "orig_argv", sys.argv))
    request = {"folder": folder, "argv": [_MAIN, *argv], "command": command, "cwd": os.getcwd(), "environ": environ}
    text = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as link:
        try:
            link.connect(path)
            socket.send_fds(link, [_LENGTH.pack(len(text))], [0, 1, 2])
            link.sendall(text)
            child = _number(link)
        except OSError:
            return
        if not child:
            return
        # From here on the script runs there, whatever fails here.
        status = None
        with contextlib.suppress(OSError):
            status = _await(child, link, os.path.join(os.path.dirname(folder), "fork"))
    if status is None:
        os._exit(1)
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _await(child, link, note):
    """Returns the status of a fork, to which signals are passed on; `None` where it cannot be known."""

    def passed_on(number, frame):
        # It may have ended.
        with contextlib.suppress(OSError):
            os.kill(child, number)

    # The command measures and ends what is below this process and what is named in this file.
    with open(note, "w", encoding="utf-8") as file:
        file.write(str(child))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, passed_on)
    status = _number(link)
    # Its number may be another's from now on.
    with contextlib.suppress(OSError):
        os.remove(note)
    return status


def serve(path, begin):
    """Imports torch, then returns in a fork for each run, with the hook begun there by `begin(folder, True)`; ends the
    process with its input."""
    # Without these descriptors, since Linux 5.3, each run imports torch.
    os.close(os.pidfd_open(os.getpid()))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{path}.new")
        server.listen()
        # Runs come as soon as it has this name, and wait for the import.
        os.rename(f"{path}.new", path)
        environ = _common(os.environ)
        import torch

        # The first optimizer imports it, since PyTorch 2.0.
        with contextlib.suppress(ImportError):
            import torch._dynamo  # noqa: F401

        request, files = _Server(server, environ).wait()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.argv[:] = request["argv"]
    sys.meta_path.insert(0, _Imported(torch, request))
    begin(request["folder"], True)


class _Server:
    """The process that waits: it forks for each request, and tells how the fork has ended."""

    def __init__(self, server, environ):
        self.server = server
        self.environ = environ
        # The forks by the connections of those that asked for them, and both by the forks' descriptors.
        self.asked = {}
        self.running = {}

    def wait(self):
        """Returns a request and its three files, in a fork."""
        while True:
            for one in select.select([0, self.server, *self.asked, *self.running], [], [])[0]:
                if one == 0:
                    os._exit(0)
                elif one in self.running:
                    self._ended(one)
                elif one in self.asked:
                    # Whoever asked was killed.
                    os.kill(self.asked.pop(one), signal.SIGKILL)
                    one.close()
                elif one is self.server:
                    link, _ = self.server.accept()
                    request, files = _receive(link)
                    if request and _common(request["environ"]) == self.environ and self._fork(link):
                        return request, files
                    for file in files:
                        os.close(file)
                    if link not in self.asked:
                        link.close()

    def _fork(self, link):
        """Returns true in the fork."""
        child = os.fork()
        if child:
            self.asked[link] = child
            self.running[os.pidfd_open(child)] = (child, link)
            _send(link, child)
            return False
        for one in [link, *self.asked]:
            one.close()
        for one in self.running:
            os.close(one)
        return True

    def _ended(self, descriptor):
        child, link = self.running.pop(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(child, 0)
        if self.asked.pop(link, None):
            _send(link, status)
            link.close()


class _Imported:
    """Finds torch when the script asks for it, and gives what was imported."""

    def __init__(self, torch, request):
        self.torch = torch
        self.spec = torch.__spec__
        self.request = request
        names = [name for name in sys.modules if name.partition(".")[0] == "torch"]
        # Without its modules, an import of any of them imports torch itself first.
        self.modules = {name: sys.modules.pop(name) for name in names}

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name == "torch" else None

    def invalidate_caches(self):
        """Has no cache."""

    def create_module(self, spec):
        return self.torch

    def exec_module(self, module):
        if dict(os.environ) != self.request["environ"]:
            self._restart()
        sys.meta_path.remove(self)
        sys.modules.update(self.modules)
        module.__spec__ = self.spec
        # What is compiled depends on what was patched before its compiler was imported.
        if hasattr(module, "compile"):
            module.compile = self._restart

    def _restart(self, *args, **kwargs):
        command, environ = self.request["command"], {**self.request["environ"], _UNSHARED: "1"}
        os.execve(sys.executable, [sys.executable, *command[1:]], environ)


def _common(environ):
    """Returns the variables in which all runs have to agree."""
    return {name: text for name, text in environ.items() if name not in _OWN and not name.startswith("SNAPSCOPE_")}


def _receive(link):
    """Returns a request and its files; no request where the other end is gone."""
    head, files, _, _ = socket.recv_fds(link, _LENGTH.size, 3)
    text = b""
    while len(head) == _LENGTH.size and len(text) < _LENGTH.unpack(head)[0]:
        part = link.recv(1 << 20)
        if not part:
            break
        text += part
    try:
        return (json.loads(text) if len(files) == 3 else None), files
    except ValueError:
        return None, files


def _send(link, number):
    """Tells a number to the other end, which may be gone."""
    with contextlib.suppress(OSError):
        link.sendall(_LENGTH.pack(number))


def _number(link):
    """Returns the next number of the other end; `None` where it is gone."""
    head = link.recv(_LENGTH.size, socket.MSG_WAITALL)
    return _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else None
