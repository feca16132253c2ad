"""Libraries of local privacy in Python: one bit per value at level 1. The library is the first argument."""

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

    return reports, lambda packed, users: np.unpackbits(np.frombuffer(packed, np.uint8))[:users]


def pure_ldp():
    """A call per value to direct encoding with two categories, which are named 1 and 2."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=1.0, d=2)

    def reports(x):
        return [client.privatise(2 if value >= 0.0 else 1) for value in x.tolist()]

    return reports, lambda found, users: np.array(found)


def multi_freq_ldpy():
    """A call per value to generalised randomised response with two categories, compiled by numba."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    def reports(x):
        return [GRR_Client(1 if value >= 0.0 else 0, 2, 1.0) for value in x.tolist()]

    return reports, lambda found, users: np.array(found)


LIBRARIES = {"opendp": opendp, "pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def main():
    reports, bits = LIBRARIES[sys.argv[1]]()

    def signs(users, seed):
        x = np.random.default_rng(seed).normal(0.5, 1.0, users)
        seconds, found = timed(reports, x)
        return seconds, [np.mean(bits(found, users))]

    def flips(users, seed):
        above, first = timed(reports, np.full(users, 1.0))
        below, second = timed(reports, np.full(users, -1.0))
        return above + below, [1 - np.mean(bits(first, users)), np.mean(bits(second, users))]

    serve({"signs": signs, "flips": flips})


if __name__ == "__main__":
    main()
