"""A dataset lies in shared memory, and two workers read it bit by bit."""

import multiprocessing
import os
import time
from multiprocessing import shared_memory

STEPS = 40


def step_bytes():
    # Containers often have a small /dev/shm.
    disk = os.statvfs("/dev/shm")
    return min(4 << 20, disk.f_bavail * disk.f_frsize // (2 * STEPS)) // 4096 * 4096


def work(data, size):
    for step in range(STEPS):
        sum(data.buf[step * size : (step + 1) * size : 4096])
        time.sleep(0.05)


def main():
    size = step_bytes()
    data = shared_memory.SharedMemory(create=True, size=size * STEPS)
    for step in range(STEPS):
        data.buf[step * size : (step + 1) * size] = bytes([step + 1]) * size
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(data, size)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    data.close()
    data.unlink()


main()
