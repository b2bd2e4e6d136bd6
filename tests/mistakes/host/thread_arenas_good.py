"""Threads decode a batch each, in turn, and share two arenas of malloc."""

import os
import sys
import threading
import time

THREADS = 16
STEPS = 96
ROWS = 1000
ROW_BYTES = 20_000


def decode(step):
    rows = [bytes([step % 255 + 1]) * ROW_BYTES for _ in range(ROWS)]
    # The last row stays, above those that are freed, so that the arena cannot shrink.
    return rows[-1]


def work(number, turn, kept):
    for step in range(number, STEPS, THREADS):
        with turn:
            turn.wait_for(lambda: len(kept) == step)
            time.sleep(0.03)
            kept.append(decode(step))
            turn.notify_all()


def main():
    turn, kept = threading.Condition(), []
    threads = [threading.Thread(target=work, args=(number, turn, kept)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("kept", sum(map(len, kept)), "bytes")


# malloc reads it when a program starts.
if "MALLOC_ARENA_MAX" not in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_ARENA_MAX": "2"})
main()
