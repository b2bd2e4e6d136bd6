"""Each worker decodes a sample whenever it needs it."""

import multiprocessing
import time

STEPS = 30


def decoded(step):
    return bytearray(bytes([step % 255 + 1]) * (4 << 20))


def work():
    cache = {}
    for step in range(STEPS):
        cache["latest"] = decoded(step)
        time.sleep(0.04)


def main():
    for _ in range(3):
        workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        time.sleep(0.3)


main()
