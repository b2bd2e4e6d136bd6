"""Sends the reports of a test from the process on the virtual GPU to the one that asked for it."""

from __future__ import annotations

import json
from typing import Any

# Names the file for the reports, in the environment of that process.
VARIABLE = "SNAPSCOPE_GUARD_REPORTS"


class Sender:
    """The plugin of the process in which the test runs."""

    def __init__(self, config: Any, path: str) -> None:
        self.config = config
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.path, "a", encoding="utf-8") as file:
            # What is not plain, such as a property of the test's own, becomes text.
            file.write(json.dumps(data, default=str) + "\n")


def received(config: Any, path: str) -> dict[str, Any]:
    """Returns the reports by the part of the test that they are about; of repetitions the last."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                data = json.loads(line)
            except ValueError:
                # The process was killed while it wrote.
                continue
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            if hasattr(report, "when"):
                # JSON has lists only; pytest takes the place and the reason of a skip from a tuple.
                if isinstance(report.longrepr, list):
                    report.longrepr = tuple(report.longrepr)
                report.user_properties = [tuple(pair) for pair in report.user_properties]
                found[report.when] = report
    return found
