"""What scipy can do without sampling: the exact risk of two stages as a double sum, and the linear program of all mechanisms."""

import numpy as np
from scipy.optimize import linprog
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

from side import LIE, TAU, timed

# Standard deviations on either side of the mean beyond which counts are left out.
WINDOW = 8.0
OPTIMAL_LEVEL = 3.0


def counts(users, p):
    """The counts that matter, and their probabilities."""
    reach = WINDOW * (users * p * (1 - p)) ** 0.5
    k = np.arange(max(0, int(users * p - reach)), min(users, int(users * p + reach) + 1) + 1)
    return k, binom.pmf(k, users, p)


def stage(k, users, start):
    """The estimate of a sign stage; the start where the counts cannot be inverted."""
    p = (k / users - LIE) / TAU
    inside = (p > 0) & (p < 1)
    return np.where(inside, start + ndtri(np.where(inside, p, 0.5)), start)


def two_stage_risk(users, first, theta):
    """n times the mean squared error of two stages from 0: for every count of the first, every count of the second."""
    total = 0.0
    k, weights = counts(first, LIE + TAU * ndtr(theta))
    for weight, middle in zip(weights, stage(k, first, 0.0)):
        k, second = counts(users - first, LIE + TAU * ndtr(theta - middle))
        total += weight * np.sum(second * (stage(k, users - first, middle) - theta) ** 2)
    return [users * total]


def program(cells):
    """The most informative mechanism on equally likely cells of a standard normal: all 2^k columns, solved by HiGHS."""
    edges = norm.pdf(norm.ppf(np.arange(cells + 1) / cells))
    edges[[0, -1]] = 0.0
    masses, slopes = np.full(cells, 1 / cells), edges[:-1] - edges[1:]

    def work():
        patterns = (np.arange(1, 2**cells - 1) >> np.arange(cells)[:, None]) & 1
        columns = 1 + (np.exp(OPTIMAL_LEVEL) - 1) * patterns
        worth = (slopes @ columns) ** 2 / (masses @ columns)
        return linprog(-worth, A_eq=columns, b_eq=np.ones(cells), method="highs")

    seconds, found = timed(work)
    if found.status != 0:
        raise RuntimeError(found.message)
    return seconds, [-found.fun]
