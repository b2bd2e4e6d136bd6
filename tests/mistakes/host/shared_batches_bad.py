"""A worker sends batches through shared memory, and nobody removes the segments."""

import multiprocessing
import os
import time
from multiprocessing import resource_tracker, shared_memory

STEPS = 60


def batch_bytes():
    # Containers often have a small /dev/shm.
    disk = os.statvfs("/dev/shm")
    return min(4 << 20, disk.f_bavail * disk.f_frsize // (2 * STEPS))


def work(names):
    size = batch_bytes()
    for step in range(STEPS):
        segment = shared_memory.SharedMemory(create=True, size=size)
        segment.buf[:] = bytes([step % 255 + 1]) * size
        names.put(segment.name)
        segment.close()


def main():
    resource_tracker.ensure_running()
    context = multiprocessing.get_context("fork")
    names = context.Queue(maxsize=2)
    worker = context.Process(target=work, args=(names,))
    worker.start()
    total = 0
    for _ in range(STEPS):
        segment = shared_memory.SharedMemory(names.get())
        total += segment.buf[0]
        time.sleep(0.04)
        segment.close()
    worker.join()
    print("sum", total)


main()
