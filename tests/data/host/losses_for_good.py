"""A list outlives the epochs and keeps what each of them appends."""

import time

history = []


def train(step):
    return bytearray(bytes([step % 255 + 1]) * (3 << 20))


def main():
    for _ in range(3):
        epoch = []
        for step in range(40):
            loss = train(step)
            epoch.append(loss)
            if step % 2 == 0:
                history.append(loss)
            time.sleep(0.04)
        epoch.clear()
        del loss
        time.sleep(0.3)


main()
