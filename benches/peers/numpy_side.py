"""Protocols and reports in numpy, as researchers write them: vectorised over users, or over replications where users wait for
each other. The generator is numpy's default one (PCG64), which is not a cryptographic one. Level 1, standard deviation 1."""

from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

import scipy_side
from side import GROWTH, LIE, TAU, serve, timed

THETA = 0.5
FAR = 84.5
LOW, HIGH, SCALES, BETA = 0.0, 128.0, 7, 0.05

kept = {}


def values(rng, users):
    """The values to privatise, drawn once."""
    if kept.get("users") != users:
        kept.update(users=users, values=rng.normal(THETA, 1.0, users))
    return kept["values"]


def reports(rng, x, threshold):
    """The sign of every value through randomised response."""
    return (x >= threshold) ^ (rng.random(len(x)) < LIE)


def signs(users, seed):
    rng = np.random.default_rng(seed)
    x = values(rng, users)
    seconds, bits = timed(reports, rng, x, 0.0)
    return seconds, [bits.mean()]


def flips(users, seed):
    rng = np.random.default_rng(seed)
    above, first = timed(reports, rng, np.full(users, 1.0), 0.0)
    below, second = timed(reports, rng, np.full(users, -1.0), 0.0)
    return above + below, [1 - first.mean(), second.mean()]


def categories_of(rng, users, k):
    """Categories to privatise, drawn once."""
    if kept.get("categories") != (users, k):
        kept.update(categories=(users, k), y=rng.integers(0, k, users))
    return kept["y"]


def responses(rng, y, k):
    """Randomised response over k categories, and how often each is said."""
    lies = rng.random(len(y)) < (k - 1) / (GROWTH + k - 1)
    said = np.where(lies, (y + rng.integers(1, k, len(y))) % k, y)
    return np.bincount(said, minlength=k)


def categories(users, k, seed):
    rng = np.random.default_rng(seed)
    y = categories_of(rng, users, k)
    seconds, counts = timed(responses, rng, y, k)
    return seconds, [counts[0] / users]


def category_lies(users, k, seed):
    rng = np.random.default_rng(seed)
    first, said = timed(responses, rng, np.full(users, 0), k)
    last, also = timed(responses, rng, np.full(users, k - 1), k)
    return first + last, [1 - said[0] / users, 1 - also[k - 1] / users]


def stage(share, start):
    """The estimate of a sign stage from the share of ones; the start where the share cannot be inverted."""
    p = (share - LIE) / TAU
    inside = (p > 0) & (p < 1)
    return np.where(inside, start + ndtri(np.where(inside, p, 0.5)), start)


def two_stages(rng, theta, start, users, first):
    """Every user of one replication drawn and privatised."""
    middle = stage(reports(rng, rng.normal(theta, 1.0, first), start).mean(), start)
    return stage(reports(rng, rng.normal(theta, 1.0, users - first), middle).mean(), middle)


def scaled_mse(estimates, theta, users):
    """n times the mean squared error, and its standard error."""
    squares = users * (np.asarray(estimates) - theta) ** 2
    return [squares.mean(), squares.std() / len(squares) ** 0.5]


def two_stage_users(users, first, times, seed):
    rng = np.random.default_rng(seed)

    def work():
        return [two_stages(rng, THETA, 0.0, users, first) for _ in range(times)]

    seconds, estimates = timed(work)
    return seconds, scaled_mse(estimates, THETA, users)


def two_stage_counts(users, first, times, seed):
    rng = np.random.default_rng(seed)

    def work():
        ones = rng.binomial(first, LIE + TAU * ndtr(THETA), size=times)
        middle = stage(ones / first, 0.0)
        ones = rng.binomial(users - first, LIE + TAU * ndtr(THETA - middle))
        return stage(ones / (users - first), middle)

    seconds, estimates = timed(work)
    return seconds, scaled_mse(estimates, THETA, users)


def residues(rng, x, scale):
    """Which of four residues, through randomised response with four answers."""
    y = np.floor(x / scale).astype(np.int64) % 4
    lies = rng.random(len(x)) < 3 / (GROWTH + 3)
    return np.where(lies, (y + rng.integers(1, 4, len(x))) % 4, y)


def last_multiple(low, high, scale, wanted):
    """The largest multiple of the scale in the interval whose number has a wanted residue modulo four."""
    last, least = int(high // scale), -int(-low // scale)
    return next((c * scale for c in range(last, least - 1, -1) if c % 4 in wanted), None)


def pilot(rng, theta, group):
    """The first round of Joseph et al.: a group per scale, then down from the coarsest one."""
    psi = 5 / 2**0.5 * (group * np.log(8 * SCALES / BETA)) ** 0.5
    low, high = LOW, HIGH
    for exponent in reversed(range(SCALES)):
        scale = 2.0**exponent
        counts = np.bincount(residues(rng, rng.normal(theta, 1.0, group), scale), minlength=4)
        debiased = (GROWTH + 3) / (GROWTH - 1) * (counts - group / (GROWTH + 3))
        first, second = np.argsort(-debiased, kind="stable")[:2]
        place = None
        if debiased[first] >= 0.52 * group + psi:
            place = last_multiple(low, high, scale, (first,))
        if place is not None:
            low, high = place, place + scale
        if place is None or exponent == 0:
            found = last_multiple(low, high, scale, (first, second))
            return low if found is None else found


def three_stage_users(users, taken, first, times, seed):
    rng = np.random.default_rng(seed)
    group = taken // SCALES

    def work():
        left = users - SCALES * group
        return [two_stages(rng, FAR, pilot(rng, FAR, group), left, first) for _ in range(times)]

    seconds, estimates = timed(work)
    return seconds, scaled_mse(estimates, FAR, users)


def drawn_users(rng, shape):
    """What users say when asked: every value drawn, and every lie."""
    x, lies = rng.normal(THETA, 1.0, shape), rng.random(shape) < LIE
    return lambda step, q: (x[step] >= q) ^ lies[step]


def drawn_reports(rng, shape):
    """The same without values: a report is as likely as the guess makes it."""
    words = rng.random(shape)
    return lambda step, q: words[step] < LIE + TAU * ndtr(THETA - q)


def liu(drawn, users, times, seed):
    """The sequential median, replications a thousand at once: the estimates alone, without the sums of an interval."""
    rng = np.random.default_rng(seed)
    block, at_once = 256, 1000

    def some(times, steps):
        q, total = np.zeros(times), np.zeros(times)
        for begin in range(0, users, block):
            part = steps[begin : begin + block]
            says = drawn(rng, (len(part), times))
            for i, step in enumerate(part):
                q += np.where(says(i, q), step, -step)
                total += q
        return total / users

    def work():
        steps = 1 / (np.arange(1, users + 1) ** 0.51 + 100)
        return np.concatenate([some(min(at_once, times - begin), steps) for begin in range(0, times, at_once)])

    seconds, estimates = timed(work)
    return seconds, scaled_mse(estimates, THETA, users)


if __name__ == "__main__":
    serve(
        {
            "signs": signs,
            "flips": flips,
            "categories": categories,
            "category-lies": category_lies,
            "two-stage-users": two_stage_users,
            "two-stage-counts": two_stage_counts,
            "two-stage-risk": lambda users, first, seed: timed(scipy_side.two_stage_risk, users, first, THETA),
            "three-stage-users": three_stage_users,
            "liu": partial(liu, drawn_users),
            "liu-reports": partial(liu, drawn_reports),
            "program": lambda cells, seed: scipy_side.program(cells),
        }
    )
