"""Each worker reads a list of strings that it shares with the main process."""

import multiprocessing
import time

SAMPLES = [f"sample {number} ".ljust(300, "x") for number in range(450_000)]
STEPS = 30


def work():
    size = len(SAMPLES) // STEPS
    for step in range(STEPS):
        # Reading a string counts a reference in it, so that its page is copied.
        sum(len(sample) for sample in SAMPLES[step * size : (step + 1) * size])
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
