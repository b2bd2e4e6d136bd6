"""The main process collects the outputs of an epoch."""

import time


def forward(step):
    return bytearray(bytes([step % 255 + 1]) * (6 << 20))


def main():
    for _ in range(3):
        outputs = []
        for step in range(30):
            outputs.append(forward(step))
            time.sleep(0.04)
        print("mean", sum(output[0] for output in outputs) / len(outputs))
        outputs.clear()
        time.sleep(0.3)


main()
