"""Two workers fill a deep queue of batches in shared memory, faster than the training takes them out."""

import multiprocessing
import os
import time
from multiprocessing import resource_tracker, shared_memory

WORKERS = 2
PREFETCH = 16
BATCHES = 90


def batch_bytes():
    # Containers often have a small /dev/shm.
    disk = os.statvfs("/dev/shm")
    return min(4 << 20, disk.f_bavail * disk.f_frsize // (2 * WORKERS * 16))


def work(worker, names):
    size = batch_bytes()
    for batch in range(worker, BATCHES, WORKERS):
        segment = shared_memory.SharedMemory(create=True, size=size)
        segment.buf[:] = bytes([batch % 255 + 1]) * size
        time.sleep(0.01)
        names.put(segment.name)
        segment.close()


def train(name):
    segment = shared_memory.SharedMemory(name)
    total = segment.buf[0]
    segment.close()
    segment.unlink()
    time.sleep(0.04)
    return total


def main():
    resource_tracker.ensure_running()
    context = multiprocessing.get_context("fork")
    names = context.Queue(maxsize=WORKERS * PREFETCH)
    workers = [context.Process(target=work, args=(worker, names)) for worker in range(WORKERS)]
    for worker in workers:
        worker.start()
    print("sum", sum(train(names.get()) for _ in range(BATCHES)))
    for worker in workers:
        worker.join()


main()
