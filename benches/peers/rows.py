"""What is compared: rows of programs at the same task, ours first, and the numbers on which all must agree before."""

from dataclasses import dataclass, field

from side import GROWTH

USERS, FIRST = 10_000, 306
MANY, MANY_FIRST = 200_000, 1257
PILOT, PILOT_FIRST = 15_000, 700
CATEGORIES = 8
# Where sides are checked against each other: with as few users as the protocols take, because many replications are needed.
PILOTED, SEQUENTIAL = 20_000, 2_000
# As many as a published figure takes per point.
REPLICATIONS = 50_000


@dataclass(frozen=True)
class Call:
    """A task for a side, without its seed."""

    side: str
    task: str
    sizes: tuple

    def line(self, seed):
        return " ".join([self.task, *map(str, self.sizes), str(seed)])


@dataclass(frozen=True)
class Entry:
    """A program in a row. `units` is how many units of the row one call does."""

    name: str
    does: str
    call: Call
    units: float
    kind: str = "same"
    accuracy: str | None = None


@dataclass(frozen=True)
class Row:
    title: str
    short: str
    unit: str
    entries: list = field(default_factory=list)


@dataclass(frozen=True)
class Check:
    """A task whose value is compared with what is expected: a number, or the value of another call."""

    what: str
    call: Call
    expected: float | Call
    # A share of so many drawn bits, n·MSE with a standard error in its value, or a number to so many digits.
    kind: str
    relative: float = 0.0
    parts: tuple = (" above", " below")


class Sizes:
    """How much work a call is: about a second at the most in a full run, except where one answer takes longer."""

    def __init__(self, quick):
        self.values = 1_000_000 if quick else 10_000_000
        self.few_values = 100_000 if quick else 1_000_000
        self.users = (100, 200) if quick else (2_000, 1_000)
        self.counts = 100_000 if quick else 1_000_000
        self.three_counts = 10_000 if quick else 100_000
        self.three_users = 10 if quick else 50
        self.many_users = 10 if quick else 40
        self.steps = 20_000 if quick else MANY
        self.lanes = (20, 100) if quick else (200, 1_000)
        self.cells = 12 if quick else 16
        # Enough for one per cent at 4.9 standard errors, of which n·MSE has √(2/replications); of two simulated values more.
        self.close = 0.2 if quick else 0.01
        self.check_users = 4_000 if quick else 500_000
        self.check_counts = 400_000 if quick else 4_000_000
        self.check_three = (40_000, 4_000) if quick else (1_000_000, 500_000)
        self.check_lanes = (8_192, 8_000) if quick else (2_000_384, 1_000_000)


def rows(s):
    return [signs(s), categories(s), *two_stage(s), three_stage(s), liu(s), *optimal(s), *risk(s)]


def signs(s):
    def entry(name, does, side, users, kind="same", task="signs"):
        return Entry(name, does, Call(side, task, (users,)), users, kind)

    few = f"a call per value; {s.few_values:,} values"
    return Row(
        f"Randomised sign reports of {s.values:,} values, ε = 1",
        "Randomised sign reports",
        "value",
        [
            entry("ldp", "`privatize_packed`, 64 reports to a word, kept and counted; exact weights, ChaCha12 seeded by the system", "ours", s.values),
            entry("numpy", "`(x >= c) ^ (rng.random(n) < p)`, kept; generator not cryptographic (PCG64)", "numpy", s.values),
            entry(
                "OpenDP (Rust)",
                "`make_randomized_response_bool` one by one, kept; built without OpenSSL, so noise from `thread_rng` (ChaCha12), "
                "the faster of its generators",
                "opendp-rust",
                s.values,
            ),
            entry(
                "OpenDP (Python)",
                f"`make_randomized_response_bitvec` on packed bits, noise from OpenSSL as in its default build; {s.few_values:,} values",
                "opendp",
                s.few_values,
            ),
            entry("pure-ldp", f"direct encoding with 2 categories, {few}, not cryptographic", "pure-ldp", s.few_values),
            entry(
                "multi-freq-ldpy",
                f"generalised randomised response with 2 categories, {few}, not cryptographic",
                "multi-freq-ldpy",
                s.few_values,
            ),
            entry("an unrolled sum", "adds up the same slice in Rust: no more than reading it", "ours", s.values, "floor", "sum"),
        ],
    )


def categories(s):
    def entry(name, does, side, users):
        return Entry(name, does, Call(side, "categories", (users, CATEGORIES)), users)

    few = f"a call per value; {s.few_values:,} values, not cryptographic"
    return Row(
        f"Randomised response over {CATEGORIES} categories of {s.values:,} values, ε = 1",
        f"Randomised response over {CATEGORIES} categories",
        "value",
        [
            entry(
                "ldp",
                "`privatize_packed`, 64 reports to three words, kept and counted; exact weights, ChaCha12 seeded by the system",
                "ours",
                s.values,
            ),
            entry("numpy", "`where(lies, (y + integers(1, k)) % k, y)`, counted; not cryptographic (PCG64)", "numpy", s.values),
            entry("pure-ldp", f"direct encoding, {few}", "pure-ldp", s.few_values),
            entry("multi-freq-ldpy", f"generalised randomised response, {few}", "multi-freq-ldpy", s.few_values),
        ],
    )


def two_stage(s):
    ours, numpy = s.users
    size = (USERS, FIRST)
    title = f"Two-stage Monte Carlo, n = {USERS:,}, first stage {FIRST}, θ = 0.5, ε = 1"
    by_numpy = Entry(
        "numpy, every user",
        "every value drawn and privatised, vectorised over users",
        Call("numpy", "two-stage-users", (*size, numpy)),
        numpy,
    )
    every = Row(
        f"{title}: every user",
        f"Two stages, {USERS:,} users drawn",
        "replication",
        [
            Entry(
                "ldp, every user",
                "`users` fidelity: every value drawn and privatised",
                Call("ours", "two-stage-users", (*size, ours)),
                ours,
            ),
            by_numpy,
        ],
    )
    counts = Row(
        f"{title}: sufficient counts",
        f"Two stages, {USERS:,} users counted",
        "replication",
        [
            Entry(
                "ldp, counts",
                "`tally` fidelity: two counts per replication, a seed stream for each; what repeats between replications is kept",
                Call("ours", "two-stage-counts", (*size, s.counts)),
                s.counts,
            ),
            Entry(
                "numpy, counts",
                "two calls of `rng.binomial` for all replications at once",
                Call("numpy", "two-stage-counts", (*size, s.counts)),
                s.counts,
            ),
            Entry(by_numpy.name, by_numpy.does, by_numpy.call, by_numpy.units, "other"),
        ],
    )
    size = (MANY, MANY_FIRST)
    many = Row(
        f"Two-stage Monte Carlo, n = {MANY:,}, first stage {MANY_FIRST}, θ = 0.5, ε = 1: sufficient counts",
        f"Two stages, {MANY:,} users counted",
        "replication",
        [
            Entry(
                counts.entries[0].name, counts.entries[0].does, Call("ours", "two-stage-counts", (*size, s.counts)), s.counts
            ),
            Entry(
                counts.entries[1].name, counts.entries[1].does, Call("numpy", "two-stage-counts", (*size, s.counts)), s.counts
            ),
            Entry(
                by_numpy.name, by_numpy.does, Call("numpy", "two-stage-users", (*size, s.many_users)), s.many_users, "other"
            ),
        ],
    )
    return [every, counts, many]


def three_stage(s):
    size = (MANY, PILOT, PILOT_FIRST)
    return Row(
        f"Three-stage Monte Carlo, n = {MANY:,} in [0, 128], pilot {PILOT:,}, first stage {PILOT_FIRST}, θ = 84.5, ε = 1",
        f"Three stages, {MANY:,} users",
        "replication",
        [
            Entry(
                "ldp, counts",
                "`tally` fidelity: the counts of every round drawn from their exact law",
                Call("ours", "three-stage-counts", (*size, s.three_counts)),
                s.three_counts,
            ),
            Entry(
                "numpy, every user",
                "every value drawn and privatised, vectorised over users",
                Call("numpy", "three-stage-users", (*size, s.three_users)),
                s.three_users,
                "other",
            ),
        ],
    )


def liu(s):
    ours, numpy = s.lanes
    side_by_side = 1_024
    return Row(
        f"Sequential median (Liu et al.), n = {s.steps:,}, one user per round, ε = 1",
        "Sequential median",
        "user",
        [
            Entry(
                "ldp",
                f"{side_by_side:,} replications, sixteen side by side, every report drawn from its exact law at the guess and no "
                "value behind it; also keeps the sums of its confidence interval",
                Call("ours", "liu-reports", (s.steps, side_by_side)),
                s.steps * side_by_side,
            ),
            Entry(
                "ldp, every user",
                f"{ours} replications one after the other, every value drawn and privatised",
                Call("ours", "liu", (s.steps, ours)),
                s.steps * ours,
                "own",
            ),
            Entry(
                "numpy, reports",
                f"{numpy:,} replications at once, a loop over users, every report drawn from its law (`ndtr`); the estimate alone",
                Call("numpy", "liu-reports", (s.steps, numpy)),
                s.steps * numpy,
            ),
            Entry(
                "numpy, every user",
                f"{numpy:,} replications at once, a loop over users, every value drawn; the estimate alone",
                Call("numpy", "liu", (s.steps, numpy)),
                s.steps * numpy,
                "other",
            ),
        ],
    )


def optimal(s):
    small = Row(
        f"The most informative mechanism on {s.cells} cells of a standard normal, ε = 3",
        f"Optimal mechanism, {s.cells} cells",
        "answer",
        [
            Entry(
                "ldp",
                "the linear program of all mechanisms by column generation (`Cells::program`)",
                Call("ours", "program", (s.cells,)),
                1,
                accuracy="gap",
            ),
            Entry(
                "scipy",
                f"the same program with all 2^{s.cells} columns, `linprog` (HiGHS), columns made included",
                Call("numpy", "program", (s.cells,)),
                1,
            ),
            Entry(
                "ldp, groups",
                "the best grouping of cells, with a proof how good it is (`Cells::certify`)",
                Call("ours", "certify", (s.cells,)),
                1,
                "own",
                accuracy="gap",
            ),
        ],
    )
    large = Row(
        "The most informative mechanism on 1,000 cells of a standard normal, ε = 3",
        "Optimal mechanism, 1,000 cells",
        "answer",
        [
            Entry(
                "ldp, groups",
                "`Cells::certify`; 2^1000 columns are out of reach of enumeration",
                Call("ours", "certify", (1_000,)),
                1,
                accuracy="gap",
            )
        ],
    )
    return [small, large]


def risk(s):
    return [risk_of(USERS, FIRST, s.users[1], s.counts), risk_of(MANY, MANY_FIRST, s.many_users, s.counts)]


def risk_of(users, first, drawn, counted):
    size = (users, first)
    scaled = f"{REPLICATIONS:,} replications, measured on"
    return Row(
        f"n·MSE of two stages, n = {users:,}, first stage {first}, θ = 0.5, ε = 1",
        f"Exact risk, {users:,} users",
        "answer",
        [
            Entry(
                "ldp",
                "every count weighed by its probability (every h-th one where there are too many)",
                Call("ours", "two-stage-risk", size),
                1,
                accuracy="error",
            ),
            Entry(
                "scipy",
                "the double sum of every count written out with `binom.pmf`, counts within 8 standard deviations",
                Call("numpy", "two-stage-risk", size),
                1,
                # Of so many counts ours takes every h-th.
                "same" if users < MANY else "other",
            ),
            Entry(
                "numpy, counts",
                f"{scaled} {counted:,} and scaled: two calls of `rng.binomial`",
                Call("numpy", "two-stage-counts", (*size, counted)),
                counted / REPLICATIONS,
                "other",
                accuracy="simulated",
            ),
            Entry(
                "numpy, every user",
                f"{scaled} {drawn:,} and scaled: every value drawn and privatised",
                Call("numpy", "two-stage-users", (*size, drawn)),
                drawn / REPLICATIONS,
                "other",
                accuracy="simulated",
            ),
        ],
    )


def checks(s, lie):
    """In the order in which they are made."""
    many = {"ours": s.values, "numpy": s.values, "opendp-rust": s.values}
    for side in ["ours", "numpy", "opendp-rust", "opendp", "pure-ldp", "multi-freq-ldpy"]:
        yield Check("share of false reports", Call(side, "flips", (many.get(side, s.few_values),)), lie, "share")
    lie = (CATEGORIES - 1) / (GROWTH + CATEGORIES - 1)
    for side in ["ours", "numpy", "pure-ldp", "multi-freq-ldpy"]:
        call = Call(side, "category-lies", (many.get(side, s.few_values), CATEGORIES))
        yield Check(f"share of false reports, {CATEGORIES} categories,", call, lie, "share", parts=(" first", " last"))
    for users, first in [(USERS, FIRST), (MANY, MANY_FIRST)]:
        what = f"two stages, n = {users:,}: n·MSE, summed"
        yield Check(what, Call("ours", "two-stage-risk", (users, first)), Call("numpy", "two-stage-risk", (users, first)), "digits", 1e-9)
    exact = Call("ours", "two-stage-risk", (USERS, FIRST))
    for side in ["ours", "numpy"]:
        what = f"two stages, n = {USERS:,}: n·MSE"
        for task, how, times in [("counts", "counts drawn", s.check_counts), ("users", "users drawn", s.check_users)]:
            call = Call(side, f"two-stage-{task}", (USERS, FIRST, times))
            yield Check(f"{what}, {how}", call, exact, "simulated", s.close)
    exact = Call("ours", "two-stage-risk", (MANY, MANY_FIRST))
    for side in ["ours", "numpy"]:
        call = Call(side, "two-stage-counts", (MANY, MANY_FIRST, s.check_counts))
        yield Check(f"two stages, n = {MANY:,}: n·MSE, counts drawn", call, exact, "simulated", s.close)
    size = (PILOTED, PILOT, PILOT_FIRST)
    exact = Call("ours", "three-stage-risk", size)
    what = f"three stages, n = {PILOTED:,}: n·MSE"
    ours, numpy = s.check_three
    yield Check(f"{what}, counts drawn", Call("ours", "three-stage-counts", (*size, ours)), exact, "simulated", s.close)
    yield Check(f"{what}, users drawn", Call("numpy", "three-stage-users", (*size, numpy)), exact, "simulated", s.close)
    ours, numpy = s.check_lanes
    reports = Call("ours", "liu-reports", (SEQUENTIAL, ours))
    for side, task, how in [("ours", "liu", "users"), ("numpy", "liu", "users"), ("numpy", "liu-reports", "reports")]:
        call = Call(side, task, (SEQUENTIAL, numpy))
        yield Check(f"sequential median, n = {SEQUENTIAL:,}: n·MSE, {how} drawn", call, reports, "simulated", s.close)
    program = Call("numpy", "program", (s.cells,))
    for task, how in [("program", "all mechanisms"), ("certify", "groups")]:
        what = f"most information on {s.cells} cells, {how}"
        yield Check(what, Call("ours", task, (s.cells,)), program, "digits", 1e-6)
