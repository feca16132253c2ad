"""Runs all sides, checks that they agree, takes their times in turn, and writes results.json.

compare.py SIDE-BINARY OPENDP-BINARY OUT-DIRECTORY [--quick]
"""

import datetime
import importlib.metadata
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import rows
from side import LIE, TAU

HERE = Path(__file__).resolve().parent
ROUNDS, QUICK_ROUNDS = 9, 3
# Standard errors by which a simulated value may be off: one in a million is so by chance.
SURE = 4.9
# The same for the values of timed calls, of which there are many more.
SURE_TIMED = 6.0
# What is expected of the reports that are timed: pluses of values from N(1/2, 1), and one of the categories.
SHARES = {"signs": LIE + TAU * statistics.NormalDist().cdf(0.5), "categories": 1 / rows.CATEGORIES}
# Every pool of threads that a library may open.
ONE_THREAD = ["RAYON_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM"]


class Failed(Exception):
    """What stops a comparison, as a sentence."""


class Side:
    """A process that answers tasks."""

    def __init__(self, name, command):
        self.name = name
        env = dict(os.environ, **{f"{pool}_THREADS": "1" for pool in ONE_THREAD})
        self.process = subprocess.Popen(
            [*on_one_core(), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=HERE
        )

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            text = self.process.stdout.readline()
        except BrokenPipeError:
            text = ""
        if not text:
            raise Failed(f"{self.name} ended at «{line}», exit code {self.process.wait()}")
        answer = json.loads(text)
        if "error" in answer:
            raise Failed(f"{self.name} at «{line}»: {answer['error']}")
        return answer["seconds"], answer["value"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def on_one_core():
    """The same core for every side, where the system can be asked for one."""
    if shutil.which("taskset") and hasattr(os, "sched_getaffinity"):
        return ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    return []


def start(ours, opendp):
    commands = {
        "ours": [ours],
        "opendp-rust": [opendp],
        "numpy": [sys.executable, "numpy_side.py"],
        **{name: [sys.executable, "oracles_side.py", name] for name in ["opendp", "pure-ldp", "multi-freq-ldpy"]},
    }
    return {name: Side(name, command) for name, command in commands.items()}


class Comparison:
    def __init__(self, sides, quick):
        self.sides = sides
        self.sizes = rows.Sizes(quick)
        self.quick = quick
        self.seed = 0
        self.known = {}

    def ask(self, call, once=False):
        """A call with a seed of its own: no two draw the same. Where its time does not matter it is not warmed up."""
        self.seed += 1
        return self.sides[call.side].ask(("once " if once else "") + call.line(self.seed))

    def value(self, call):
        """The value of a call to compare with, asked for once."""
        if call not in self.known:
            self.known[call] = self.ask(call, once=True)[1]
        return self.known[call]

    def agree(self):
        """Checks that all sides compute the same; the records of it."""
        records = []
        for check in rows.checks(self.sizes, LIE):
            say(f"checking {check.what}, {check.call.side}")
            value = self.ask(check.call, once=True)[1]
            other = self.value(check.expected) if isinstance(check.expected, rows.Call) else [check.expected]
            for part in range(2 if check.kind == "share" else 1):
                records.append(record(check, value, other, part))
        return records

    def time(self):
        """Every call once per round, there and back: the seconds and values by call."""
        table = rows.rows(self.sizes)
        calls = list(dict.fromkeys(entry.call for row in table for entry in row.entries))
        seconds, values = {call: [] for call in calls}, {call: [] for call in calls}
        rounds = QUICK_ROUNDS if self.quick else ROUNDS
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for call in calls if number % 2 == 0 else reversed(calls):
                taken, value = self.ask(call)
                self.still_agrees(call, value)
                seconds[call].append(taken)
                values[call].append(value)
        return [self.shown(row, seconds, values) for row in table], rounds

    def still_agrees(self, call, value):
        """What is timed is what was checked."""
        if call.task in SHARES:
            expected, users = SHARES[call.task], call.sizes[0]
            if abs(value[0] - expected) > SURE_TIMED * (expected * (1 - expected) / users) ** 0.5:
                raise Failed(f"{call.side}, {call.task} {call.sizes}: a share of {value[0]} while timed, expected {expected}")
        if call.task in ("two-stage-users", "two-stage-counts"):
            exact = self.value(rows.Call("ours", "two-stage-risk", call.sizes[:2]))[0]
            # Of few replications the error itself is little known: the larger of it and that of a normal estimate.
            error = max(value[1], exact * (2 / call.sizes[2]) ** 0.5)
            if abs(value[0] - exact) > SURE_TIMED * error:
                raise Failed(f"{call.side}, {call.task} {call.sizes}: n·MSE {value[0]} while timed, expected {exact}")

    def shown(self, row, seconds, values):
        base = None
        entries = []
        for entry in row.entries:
            per_unit = [taken / entry.units for taken in seconds[entry.call]]
            ratio = None if base is None else spread([other / ours for other, ours in zip(per_unit, base)])
            base = per_unit if base is None else base
            entries.append(
                {
                    "name": entry.name,
                    "does": entry.does,
                    "kind": entry.kind,
                    "seconds": spread(per_unit),
                    "ratio": ratio,
                    "accuracy": accuracy(entry, values[entry.call]),
                }
            )
        return {"title": row.title, "short": row.short, "unit": row.unit, "entries": entries}


def record(check, value, other, part):
    """One agreement, or the end of the comparison."""
    found, expected = value[part], other[0]
    if check.kind == "share":
        # The share of so many bits, above the threshold and below.
        tolerance = SURE * (expected * (1 - expected) / check.call.sizes[0]) ** 0.5
    elif check.kind == "simulated":
        # Of two simulated values the errors add up; that of a sum is nothing beside them.
        simulated = [value[1], other[1]]
        tolerance = SURE * sum(error**2 for error in simulated) ** 0.5
        if check.relative and tolerance > check.relative * expected:
            raise Failed(f"{check.what}, {check.call.side}: {tolerance} is too coarse to see {check.relative:%}")
    else:
        tolerance = check.relative * abs(expected)
    what = check.what + (check.parts[part] if check.kind == "share" else "")
    if not abs(found - expected) <= tolerance:
        raise Failed(f"{what}: {check.call.side} found {found}, expected {expected} within {tolerance}")
    return {"what": what, "side": check.call.side, "value": found, "expected": expected, "tolerance": tolerance}


def accuracy(entry, values):
    """The relative error of what an entry found, where it has one."""
    first, second = values[-1][0], values[-1][1] if len(values[-1]) > 1 else None
    if entry.accuracy == "gap":
        return max(second / first - 1, 2**-53)
    if entry.accuracy == "error":
        return second / first
    if entry.accuracy == "simulated":
        # From all rounds together, as if each had all replications.
        mean = statistics.fmean(value[0] for value in values)
        error = statistics.fmean(value[1] ** 2 for value in values) ** 0.5
        return error * entry.units**0.5 / mean
    return None


def spread(numbers):
    return {"median": statistics.median(numbers), "low": min(numbers), "high": max(numbers)}


def say(text):
    print(text, file=sys.stderr, flush=True)


def processor():
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        return found.group(1).strip() if found else platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def versions():
    names = ["numpy", "scipy", "opendp", "pure-ldp", "multi-freq-ldpy"]
    found = {name: importlib.metadata.version(name) for name in names}
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, cwd=HERE).stdout.split()[1]
    lock = (HERE / "opendp" / "Cargo.lock").read_text()
    crate = re.search(r'name = "opendp"\nversion = "([^"]+)"', lock).group(1)
    return {**found, "Python": platform.python_version(), "rustc": rustc, "opendp (Rust)": crate}


def main():
    quick = "--quick" in sys.argv
    ours, opendp, out = [Path(arg).resolve() for arg in sys.argv[1:] if arg != "--quick"]
    sides = start(str(ours), str(opendp))
    try:
        comparison = Comparison(sides, quick)
        checks = comparison.agree()
        table, rounds = comparison.time()
    finally:
        for side in sides.values():
            side.close()
    results = {
        "schema": 1,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "rounds": rounds,
        "quick": quick,
        "cpu": processor(),
        "versions": versions(),
        "checks": checks,
        "rows": table,
    }
    # In place at once: a run that is stopped leaves the last results as they were.
    partial = out / "results.json.partial"
    partial.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    partial.replace(out / "results.json")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"error: {failed}")
