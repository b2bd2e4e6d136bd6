"""Only numbers outlive a step."""

import time

history = []


def train(step):
    return bytearray(bytes([step % 255 + 1]) * (3 << 20))


def main():
    for _ in range(3):
        for step in range(40):
            loss = train(step)
            if step % 2 == 0:
                history.append(loss[0])
            time.sleep(0.04)
        time.sleep(0.3)


main()
