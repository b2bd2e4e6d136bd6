"""Two workers read a file by memory mapping; its pages are the system's cache."""

import mmap
import multiprocessing
import tempfile
import time

STEPS = 40
STEP_BYTES = 4 << 20


def work(path):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    for step in range(STEPS):
        sum(data[step * STEP_BYTES : (step + 1) * STEP_BYTES : 4096])
        time.sleep(0.05)


def main():
    with tempfile.NamedTemporaryFile() as file:
        for step in range(STEPS):
            file.write(bytes([step + 1]) * STEP_BYTES)
        file.flush()
        context = multiprocessing.get_context("fork")
        workers = [context.Process(target=work, args=(file.name,)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


main()
