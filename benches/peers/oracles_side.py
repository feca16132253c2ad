"""Libraries of local privacy in Python: one bit per value, or one of several categories, at level 1. The library is the first
argument."""

import sys

import numpy as np

from side import LIE, serve, timed


def opendp():
    """Packed bits through OpenDP's randomised response on bit vectors."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), 2 * LIE)

    def reports(x):
        return response(np.packbits(x >= 0.0).tobytes())

    return reports, lambda packed, users: np.unpackbits(np.frombuffer(packed, np.uint8))[:users], None


def pure_ldp():
    """A call per value to direct encoding; categories are named from 1 on, reports from 0."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=1.0, d=2)

    def reports(x):
        return [client.privatise(2 if value >= 0.0 else 1) for value in x.tolist()]

    def responses(y, k):
        client = DEClient(epsilon=1.0, d=k)
        return np.array([client.privatise(value + 1) for value in y.tolist()])

    return reports, lambda found, users: np.array(found), responses


def multi_freq_ldpy():
    """A call per value to generalised randomised response, compiled by numba."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    def reports(x):
        return [GRR_Client(1 if value >= 0.0 else 0, 2, 1.0) for value in x.tolist()]

    def responses(y, k):
        return np.array([GRR_Client(value, k, 1.0) for value in y.tolist()])

    return reports, lambda found, users: np.array(found), responses


LIBRARIES = {"opendp": opendp, "pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def main():
    reports, bits, responses = LIBRARIES[sys.argv[1]]()

    def signs(users, seed):
        x = np.random.default_rng(seed).normal(0.5, 1.0, users)
        seconds, found = timed(reports, x)
        return seconds, [np.mean(bits(found, users))]

    def flips(users, seed):
        above, first = timed(reports, np.full(users, 1.0))
        below, second = timed(reports, np.full(users, -1.0))
        return above + below, [1 - np.mean(bits(first, users)), np.mean(bits(second, users))]

    def categories(users, k, seed):
        y = np.random.default_rng(seed).integers(0, k, users)
        seconds, found = timed(responses, y, k)
        return seconds, [np.mean(found == 0)]

    def category_lies(users, k, seed):
        first, found = timed(responses, np.full(users, 0), k)
        last, others = timed(responses, np.full(users, k - 1), k)
        return first + last, [np.mean(found != 0), np.mean(others != k - 1)]

    serve({"signs": signs, "flips": flips, "categories": categories, "category-lies": category_lies})


if __name__ == "__main__":
    main()
