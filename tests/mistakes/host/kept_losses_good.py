"""Only numbers outlive a step."""

import mmap
import time

history = []


def train(step):
    pages = mmap.mmap(-1, 5 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(bytes([step % 255 + 1]) * len(pages))
    return pages


def main():
    for _ in range(3):
        for step in range(30):
            loss = train(step)
            if step % 4 == 0:
                history.append(loss[0])
            time.sleep(0.04)
        time.sleep(0.3)


main()
