"""A side of the comparison: reads a task a line, answers with its time and what it found.

A line is a name and whole numbers, the last of them a seed. The answer is a line of JSON, {"seconds": s, "value": [...]}, or
{"error": text}. A task of new sizes is done once before it is timed, so that compilers and caches are warm; not if the line
begins with "once", for tasks whose time does not matter.
"""

import json
import sys
import time

GROWTH = 2.718281828459045  # e to the level, which is 1 everywhere
LIE = 1 / (GROWTH + 1)
TAU = (GROWTH - 1) / (GROWTH + 1)


def timed(work, *args):
    """Seconds, and what the work returned."""
    start = time.perf_counter()
    done = work(*args)
    return time.perf_counter() - start, done


def serve(tasks):
    """Answers tasks until there are no more; `tasks` maps a name to a function of sizes and seed."""
    warm = set()
    for line in sys.stdin:
        try:
            once = line.startswith("once ")
            name, *numbers = line.split()[int(once) :]
            numbers = [int(number) for number in numbers]
            key = (name, *numbers[:-1])
            if key not in warm and not once:
                tasks[name](*numbers)
                warm.add(key)
            seconds, value = tasks[name](*numbers)
            answer = {"seconds": seconds, "value": [float(number) for number in value]}
        except Exception as error:  # whatever a library raises belongs in the answer, not in a dead process
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
