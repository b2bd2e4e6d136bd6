"""A list collects a record of every sample that was seen."""

import time


def evaluate(step, row):
    return {"step": step, "row": row, "loss": 1.0 / (step + row + 1), "label": f"class {row}"}


def main():
    records = []
    for step in range(60):
        for row in range(8000):
            records.append(evaluate(step, row))
        time.sleep(0.03)
    print("mean", sum(record["loss"] for record in records) / len(records))


main()
