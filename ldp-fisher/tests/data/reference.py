"""Fisher information of mechanisms on Gaussian data, with 30 digits: `python3 reference.py > reference.json`.

Where a channel is constant on intervals of x, masses and their derivatives are those of the normal law; for Laplace
noise the inner integrals are exponentials times the normal law. Nothing is integrated numerically but over the report.
"""
import json
from mpmath import mp, mpf, exp, log, sqrt, pi, ncdf, npdf, quad, inf, cbrt, tanh, floor

mp.dps = 30


def cdf(x, t, s):
    if x in (inf, -inf):
        return mpf(x > 0)
    return ncdf((x - t) / s)


def mass(a, b, t, s):
    a, b = (a - t) / s, (b - t) / s
    return ncdf(-a) - ncdf(-b) if a > 0 else ncdf(b) - ncdf(a)


def slope(a, b, t, s):
    """The derivative in t of the mass of [a, b)."""
    f = lambda x: mpf(0) if x in (inf, -inf) else npdf((x - t) / s) / s
    return f(a) - f(b)


def response(cuts, eps, t, s):
    edges = [-inf] + [mpf(c) for c in cuts] + [inf]
    m = len(cuts) + 1
    lie = 1 / (exp(eps) + m - 1)
    gap = (exp(eps) - 1) * lie
    cells = list(zip(edges, edges[1:]))
    return sum((gap * slope(a, b, t, s)) ** 2 / (lie + gap * mass(a, b, t, s)) for a, b in cells)


def steps(cells, t, s):
    """m and its derivative for a q that is constant on cells (a, b, q) of x."""
    m = sum(q * mass(a, b, t, s) for a, b, q in cells if b > a)
    d = sum(q * slope(a, b, t, s) for a, b, q in cells if b > a)
    return m, d


def cut(low, high, us, q):
    """Cells of x on which q(u) is constant, given the places in u at which it jumps."""
    w = high - low
    inner = sorted(u for u in us if -1 < u < 1)
    us = [mpf(-1)] + inner + [mpf(1)]
    xs = [-inf] + [low + (u + 1) * w / 2 for u in inner] + [inf]
    return [(a, b, q((u + v) / 2)) for a, b, u, v in zip(xs, xs[1:], us, us[1:])]


def over(f, edges):
    def g(z):
        m, d = f(z)
        return d * d / m
    # Short pieces: every one of them is smooth to all digits.
    total = mpf(0)
    for a, b in zip(edges, edges[1:]):
        if b - a > mpf(10) ** -25:
            n = 8
            total += quad(g, [a + (b - a) * k / n for k in range(n + 1)])
    return total


def piecewise_law(low, high, eps, t, s):
    h = exp(eps / 2)
    c = (h + 1) / (h - 1)
    inside, outside = h * (h - 1) / (2 * (h + 1)), (h - 1) / (2 * h * (h + 1))

    def law(z):
        us = [(z * (h - 1) + 1) / h, (z * (h - 1) - 1) / h]
        return steps(cut(low, high, us, lambda u: inside if (h * u - 1) <= z * (h - 1) <= (h * u + 1) else outside), t, s)

    edges = sorted({-c, (-h + 1) / (h - 1), (h - 1) / (h - 1), c})
    return law, edges


def piecewise(low, high, eps, t, s):
    return over(*piecewise_law(low, high, eps, t, s))


def mean_unit(low, high, t, s):
    """E u and its derivative in t, for u clipped to [-1, 1]."""
    a, b = (low - t) / s, (high - t) / s
    inside = t * (ncdf(b) - ncdf(a)) - s * (npdf(b) - npdf(a))
    mean = low * ncdf(a) + high * ncdf(-b) + inside
    return (2 * mean - low - high) / (high - low), 2 * (ncdf(b) - ncdf(a)) / (high - low)


def duchi(low, high, eps, t, s):
    tau = tanh(eps / 2)
    mean, d = mean_unit(low, high, t, s)
    return (tau * d) ** 2 / (1 - (tau * mean) ** 2)


def hybrid(low, high, eps, t, s):
    alpha = 1 - exp(-eps / 2) if eps > mpf("0.6093524930273095") else mpf(0)
    real = piecewise(low, high, eps, t, s) if alpha else mpf(0)
    return alpha * real + (1 - alpha) * duchi(low, high, eps, t, s)


def staircase(low, high, eps, t, s):
    b = exp(-eps)
    r = cbrt(b * (1 + b) / 2)
    gamma = (r - b) / (1 - b)
    a = (1 - b) / (4 * (gamma + b * (1 - gamma)))

    def law(z):
        us = []
        for k in range(-2, 2):
            for sign in (1, -1):
                # z - u = sign * 2 (j + gamma) for the j near (z - u) / 2.
                j = floor(abs(z) / 2) + k
                if j >= 0:
                    us.append(z - sign * 2 * (j + gamma))
        return steps(cut(low, high, us, lambda u: a * b ** floor(abs(z - u) / 2 + 1 - gamma)), t, s)

    n = int(mpf(60) / eps) + 2
    ends = [2 * (k + gamma) for k in range(n)]
    edges = sorted([u + sign * e for e in ends for u in (-1, 1) for sign in (1, -1)] + [mpf(-1), mpf(1)])
    # Beyond the first steps m repeats with factor b: one step of either tail is the rest of it.
    first = max(e for e in edges if e < 4)
    core = over(law, [e for e in edges if -first <= e <= first])
    period = [e for e in edges if first <= e <= first + 2 + mpf(10) ** -20]
    right = over(law, period) / (1 - b)
    left = over(lambda z: law(-z), period) / (1 - b)
    return core + left + right


def laplace(low, high, eps, t, s):
    b = 2 / eps
    k = 2 / (high - low)
    u = lambda x: -1 + (x - low) * k

    def weighted(x1, x2, c):
        """The integral of e^{c x} over the normal law between x1 and x2."""
        if x2 <= x1:
            return mpf(0)
        return exp(c * t + c * c * s * s / 2) * mass(x1, x2, t + c * s * s, s)

    def law(z):
        x0 = min(max(low + (z + 1) / k, low), high)
        # z > u to the left of x0: e^{-(z-u)/b}; to its right e^{(z-u)/b}.
        left = exp(-(z + 1 + low * k) / b) * weighted(low, x0, k / b)
        right = exp((z + 1 + low * k) / b) * weighted(x0, high, -k / b)
        ends = exp(-abs(z + 1) / b) * mass(-inf, low, t, s) + exp(-abs(z - 1) / b) * mass(high, inf, t, s)
        m = (left + right + ends) / (2 * b)
        # By parts: the derivative of m is the integral of q_x p.
        d = (left - right) * k / b / (2 * b)
        return m, d

    core = over(law, [mpf(-1), u(t), mpf(1)] if low < t < high else [mpf(-1), mpf(1)])
    # Outside m is an exponential, and so is its derivative.
    g = lambda z: law(z)[1] ** 2 / law(z)[0]
    return core + b * (g(mpf(-1)) + g(mpf(1)))


cases = []


def case(name, f, eps, t, s, **args):
    value = f(*[v if isinstance(v, list) else mpf(v) for v in args.values()], mpf(eps), mpf(t), mpf(s))
    arguments = {k: [float(x) for x in v] if isinstance(v, list) else float(v) for k, v in args.items()}
    cases.append({"mechanism": name, **arguments, "epsilon": float(eps), "theta": float(t), "sigma": float(s),
                  "information": mp.nstr(value, 20)})


for eps in ["0.0009765625", "0.125", 1, 4, 16]:
    for t, threshold in [("0.5", 0), ("0.25", "0.25"), (0, 3), (0, -12), (1000000, "1000000.5")]:
        case("response", response, eps, t, 1, cuts=[mpf(threshold)])
    case("response", response, eps, "0.25", 2, cuts=[mpf(c) for c in (-3, -1, "-0.125", 1, 4)])
for eps in ["0.125", 1, 4]:
    for low, high, t, s in [(-3, 3, "0.25", 1), (-1, 2, "1.5", 1), (0, 64, 16, 2), (-3, 3, 5, 1)]:
        for name, f in [("laplace", laplace), ("piecewise", piecewise), ("hybrid", hybrid), ("duchi", duchi),
                        ("staircase", staircase)]:
            case(name, f, eps, t, s, low=low, high=high)
for name, f in [("laplace", laplace), ("duchi", duchi), ("piecewise", piecewise)]:
    case(name, f, "0.0009765625", "0.25", 1, low=-3, high=3)
print(json.dumps(cases, indent=0).replace("\n", " ").replace("}, {", "},\n{"))
