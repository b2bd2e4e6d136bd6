"""Keeps what inference engines log, and tells the command when a server waits for requests."""

import functools
import logging
import os
import shutil
import sys
import threading

from .importing import at_import
from .notices import tried

# Packages whose loggers say who has the memory of the GPU.
_ENGINES = ("vllm", "sglang")
# vLLM's switch for the sampler that FlashInfer compiles at the start.
_SAMPLER = "VLLM_USE_FLASHINFER_SAMPLER"
_SWITCHED = (
    f"FlashInfer's sampler would be compiled by nvcc, which is not on this machine, so vLLM has its own ({_SAMPLER}=0)"
)


def install(run, report):
    make = logging.getLogRecordFactory()

    def factory(*args, **kwargs):
        record = make(*args, **kwargs)
        if record.name.partition(".")[0] in _ENGINES:
            tried(None, _keep, os.path.join(run, "engine.log"), record)
        return record

    logging.setLogRecordFactory(factory)
    at_import("uvicorn.server", lambda module: _wrap(module.Server, os.path.join(run, "serving")))
    at_import("vllm.envs", lambda module: _without_compiler(report))


def _keep(path, record):
    """Appends a message to the file of all processes, in the form in which vLLM prints it."""
    process = sys.modules.get("multiprocessing.process")
    name = process.current_process().name if process and process.parent_process() else ""
    told = [record.getMessage(), str(record.exc_info[1]) if record.exc_info else ""]
    lines = "\n".join(told).splitlines()
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(f"({name} pid={os.getpid()}) {line}\n" for line in lines if line))


def _without_compiler(report):
    """Chooses the sampler that needs no compiler for GPUs where there is none, because vLLM would end with an error."""
    toolkits = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), shutil.which("nvcc"))
    if _SAMPLER not in os.environ and not any(toolkits) and not os.path.isdir("/usr/local/cuda"):
        os.environ[_SAMPLER] = "0"
        report.facts["notes"].append(_SWITCHED)
        report.write()


def _wrap(server, mark):
    """Leaves a mark when the main thread has started a server and from then on only waits for requests."""
    main_loop = server.main_loop

    @functools.wraps(main_loop)
    async def call(self):
        if threading.current_thread() is threading.main_thread():
            tried(None, _touch, mark)
        await main_loop(self)

    server.main_loop = call


def _touch(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
