"""A list outlives the epochs and keeps what each of them appends."""

import mmap
import time

history = []


def train(step):
    # Freed pages go back to the system at once, unlike those of small objects.
    pages = mmap.mmap(-1, 5 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(bytes([step % 255 + 1]) * len(pages))
    return pages


def main():
    for _ in range(3):
        epoch = []
        for step in range(30):
            loss = train(step)
            epoch.append(loss)
            if step % 4 == 0:
                history.append(loss)
            time.sleep(0.04)
        epoch.clear()
        time.sleep(0.3)


main()
