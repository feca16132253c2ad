"""Prints the table that tests/special.rs checks the special functions against.

    python3 special.py > special.json    (one minute)

Arguments are the exact binary numbers a Rust program sees; values are computed with 50 digits and more.
Each entry is [arguments..., value], or [arguments..., value, complement] where a function returns both tails.
"""

import functools
import json
import random

from mpmath import mp, mpf, erfc, erfinv, exp, log, log1p, loggamma, pi, quad, sqrt

mp.dps = 50
random.seed(20261)


def dump(value):
    return float(mp.nstr(value, 25))


def phi(x):
    return erfc(-mpf(x) / sqrt(mpf(2))) / 2


def entry(arguments, *values):
    return [*map(float, arguments), *map(dump, values)]


# The tails of the incomplete beta and gamma functions: integrals of a log-concave density, in the log odds and in
# the logarithm. Continued fractions need millions of terms at a = 1e12.


def tail(log_density, start, slope, curvature):
    """The integral from start to where the density falls to, minus or plus infinity: away from the mode."""
    step = 3 / (abs(slope) + sqrt(curvature)) * (-1 if slope > 0 else 1)
    # Relative to the largest value: the quadrature stops at an absolute error.
    peak = log_density(start)
    total = mpf(0)
    while True:
        piece = abs(quad(lambda t: exp(log_density(t) - peak), [start, start + step], method="gauss-legendre"))
        total += piece
        start += step
        if piece < total * mpf(10) ** -35:
            return total * exp(peak)


@functools.cache
def ln_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def ln_odds_density(a, b, t):
    return -a * log1p(exp(-t)) - b * log1p(exp(t)) - ln_beta(a, b)


def beta_tails_at(a, b, t):
    """Both tails at the log odds t."""
    x, y = 1 / (1 + exp(-t)), 1 / (1 + exp(t))
    slope = a * y - b * x
    p = tail(lambda t: ln_odds_density(a, b, t), t, slope, (a + b) * x * y)
    return (p, 1 - p) if slope > 0 else (1 - p, p)


def beta_tails(a, b, x):
    x = mpf(x)
    return beta_tails_at(mpf(a), mpf(b), log(x) - log1p(-x))


def gamma_tails(a, x):
    a, x = mpf(a), mpf(x)
    constant = loggamma(a)
    p = tail(lambda u: a * u - exp(u) - constant, log(x), a - x, x)
    return (p, 1 - p) if a > x else (1 - p, p)


def binomial_ln_pmf(k, n, p):
    k, n, p = mpf(k), mpf(n), mpf(p)
    return loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p)


def normal_quantile(p):
    p = mpf(p)
    if p == mpf(1) / 2:
        return mpf(0)
    small = min(p, 1 - p)
    z = -sqrt(-2 * log(small)) if small < 0.01 else sqrt(mpf(2)) * erfinv(2 * small - 1)
    for _ in range(60):
        step = (log(phi(z)) - log(small)) * phi(z) * sqrt(2 * pi) * exp(z * z / 2)
        z -= step
        if abs(step) < abs(z) * mpf(10) ** -35:
            break
    return z if p < mpf(1) / 2 else -z


@functools.cache
def beta_quantile(p, a, b):
    """Newton on the log of the smaller tail in the log odds, which is concave: after one step it is monotone."""
    p, a, b = mpf(p), mpf(a), mpf(b)
    flip = p > mpf(1) / 2
    if flip:
        p, a, b = 1 - p, b, a
    t = log(a / b) + normal_quantile(p) * sqrt(1 / a + 1 / b)
    for _ in range(100):
        below = beta_tails_at(a, b, t)[0]
        step = (log(p) - log(below)) * below / exp(ln_odds_density(a, b, t))
        t += step
        if abs(step) < mpf(10) ** -13:
            break
    else:
        raise ArithmeticError((p, a, b))
    # The error after a Newton step of 1e-13 is of the order of its square.
    x, y = 1 / (1 + exp(-t)), 1 / (1 + exp(t))
    return (y, x) if flip else (x, y)


table = {}

points = [-37.5, -37.1, -30.3, -20.7, -10.1, -8.2, -5.657, -5.656, -4.3, -3.1, -2.2, -1.5, -1.0, -0.6630, -0.6629]
points += [-0.5, -0.1, -1e-3, -1e-9, 0.0, 1e-9, 0.1, 0.6629, 0.6630, 1.0, 1.5, 2.7, 4.0, 5.6, 5.7, 8.0]
points += [random.uniform(-37.5, 8) for _ in range(20)] + [random.uniform(-6, 2) for _ in range(10)]
table["normal_cdf"] = [entry([x], phi(x)) for x in points]
table["normal_pdf"] = [entry([x], exp(-mpf(x) ** 2 / 2) / sqrt(2 * pi)) for x in points]
deep = [-1e8, -1e6, -12345.6, -1e3, -100.0, -40.0, -1.0000001, -0.9999999, 9.0, 20.0, 37.0]


def ln_phi(x):
    x = mpf(x)
    if x > 0:
        return log1p(-phi(-x))
    if x > -200:
        return log(phi(x))
    # Further out 50 digits of erfc take too long; its asymptotic series has them after a few terms.
    series = 1 - 1 / x**2 + 3 / x**4 - 15 / x**6 + 105 / x**8 - 945 / x**10
    return -x * x / 2 - log(-x * sqrt(2 * pi)) + log(series)


table["normal_ln_cdf"] = [entry([x], ln_phi(x)) for x in points + deep]

intervals = [(-1.0, 1.0), (-0.3, 0.4), (-1e-9, 2e-9), (0.0, 1e-3), (-0.2, 5.0), (-9.0, 9.0), (10.0, 11.0), (-11.0, -10.0)]
intervals += [(20.0, 20.5), (3.0, 3.03), (3.0, 3.003), (3.0, 3.0 + 2.0**-20), (-3.0 - 2.0**-30, -3.0), (0.5, 0.53), (0.5, 0.54)]
intervals += [(5.0, 5.006), (5.0, 5.007), (8.0, 8.01), (30.0, 30.25), (36.0, 37.0), (1.0, 1.5), (-0.031, -0.0), (2.0, 40.0)]
intervals += [(0.0, 0.0632), (0.0, 0.0633), (1.7, 1.737), (25.0, 25.0025), (-37.0, -36.999)]
table["normal_mass"] = [
    entry([low, high], phi(-mpf(low)) - phi(-mpf(high)) if low > 0 else phi(high) - phi(low)) for low, high in intervals
]

levels = [1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-16, 1e-10, 1e-6, 1e-4, 0.001, 0.0124, 0.025, 0.05, 0.1, 0.25, 0.4]
levels += [0.49, 0.499999, 0.5 - 2.0**-50, 0.5 + 2.0**-50, 0.500001, 0.6, 0.75, 0.9, 0.95, 0.975, 0.99, 0.999, 1 - 1e-6]
levels += [1 - 1e-10, 1 - 2.0**-53] + [random.random() for _ in range(10)] + [10 ** random.uniform(-300, 0) for _ in range(10)]

table["normal_quantile"] = [entry([p], normal_quantile(p)) for p in levels]

cases = [(0, 1, 0.3), (1, 1, 0.3), (1, 2, 0.5), (3, 10, 0.25), (0, 1000, 1e-3), (1000, 1000, 0.999), (7, 20, 1e-20)]
cases += [(1, 2, 1e-300), (5, 10**9, 1e-9), (0, 10**9, 1e-9), (1, 10**12, 1e-12), (10**9 - 1, 10**9, 0.9999999)]
for n in (30, 10**3, 10**6, 10**9, 10**12):
    for p in (0.5, 0.3, 0.01):
        for z in (-30, -6, -1, 0, 2, 8, 25):
            k = round(n * p + z * (n * p * (1 - p)) ** 0.5)
            if 0 < k < n:
                cases.append((k, n, p))
cases = sorted(set(cases))
table["binomial_pmf"] = [entry(c, exp(binomial_ln_pmf(*c))) for c in cases if binomial_ln_pmf(*c) > -700]
table["binomial_ln_pmf"] = [entry(c, binomial_ln_pmf(*c)) for c in cases if binomial_ln_pmf(*c) > -700]
tails = []
for k, n, p in cases:
    if 0 < k < n:
        above = beta_tails(k, n - k + 1, p)[0]
        below = beta_tails(k + 1, n - k, p)[1]
        if min(above, below) > mpf(10) ** -300:
            tails.append(entry((k, n, p), below, above))
table["binomial_tails"] = tails

shapes = [(1, 1), (1, 10), (10, 1), (2, 3), (3, 8), (0.5, 0.5), (0.5, 200.5), (12.25, 7.5), (100, 101), (1, 1e6), (1e6, 1)]
shapes += [(5, 999996), (999996, 5), (500000, 500001), (3e8, 7e8), (1, 1e12), (1e12, 1), (40, 1e12), (1e11, 9e11), (5e11, 5e11)]
table["beta_quantile"] = [
    entry((p, a, b), *beta_quantile(p, a, b))
    for a, b in shapes
    for p in (1e-100, 1e-12, 1e-3, 0.025, 0.5, 0.975, 1 - 2.0**-30)
]
table["beta_tails"] = [
    entry((a, b, x), *beta_tails(a, b, x))
    for a, b in shapes
    for x in [float(beta_quantile(p, a, b)[0]) for p in (1e-12, 0.025, 0.6)]
    if 0 < x < 1
]

waits = []
for a in (0.5, 1.0, 2.5, 10.0, 33.3, 1e3, 1e6, 1e9, 1e12):
    for z in (-6, -2, 0, 1, 5, 9):
        x = a + z * a**0.5
        if x > 0:
            waits.append((a, x))
waits += [(1.0, 1e-10), (3.0, 1e-5), (5.0, 60.0), (100.0, 200.0), (100.0, 20.0), (1e6, 1.02e6)]
table["gamma_tails"] = [entry(w, *gamma_tails(*w)) for w in waits]
# Here a·u has as many digits before the point as the shape.
mp.dps = 90
large = [(a, a + z * a**0.5) for a in (501.0, 713.0, 7001.0, 1e5, 1e6, 1e10, 1e12, 1e15, 1e16, 1e20, 1e30) for z in (-7, -2.3, 0.4, 3, 6)]
table["gamma_tails_large"] = [entry(w, *gamma_tails(*w)) for w in large]
mp.dps = 50
numbers = [1e-10, 0.1, 0.5, 1.25, 1.75, 2.5, 3.0, 7.7, 20.0, 171.5, 1e4, 1e8, 1e12, 1e15, 1e100]
table["ln_gamma"] = [entry([x], loggamma(mpf(x))) for x in numbers]

print("{")
print(",\n".join(f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in table.items()))
print("}")
