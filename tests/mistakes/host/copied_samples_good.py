"""Each worker reads samples from one array of bytes that it shares with the main process."""

import array
import multiprocessing
import time

COUNT = 450_000
TEXT = b"".join(f"sample {number} ".ljust(300, "x").encode() for number in range(COUNT))
OFFSETS = array.array("Q", range(0, 300 * (COUNT + 1), 300))
STEPS = 30


def work():
    size = COUNT // STEPS
    for step in range(STEPS):
        rows = range(step * size, (step + 1) * size)
        sum(len(TEXT[OFFSETS[row] : OFFSETS[row + 1]]) for row in rows)
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
