"""The main process keeps one number of each output."""

import time


def forward(step):
    return bytearray(bytes([step % 255 + 1]) * (6 << 20))


def main():
    for _ in range(3):
        numbers = []
        for step in range(30):
            numbers.append(forward(step)[0])
            time.sleep(0.04)
        print("mean", sum(numbers) / len(numbers))
        time.sleep(0.3)


main()
