//! ChaCha12 for every processor: eight blocks side by side, for the compiler to find registers for.

use super::cipher::{BLOCKS, CONSTANTS, DOUBLE_ROUNDS, WORDS};
use super::with_avx2;
use std::array::from_fn;

/// Blocks that are computed together.
const LANES: usize = 8;
/// The same word of so many blocks.
type Lane = [u32; LANES];

/// The blocks from number `first` on, one after the other.
pub(super) fn blocks(key: &[u32; 8], first: u64, out: &mut [u32; WORDS]) {
    with_avx2(
        #[inline(always)]
        || {
            for (out, begin) in out.chunks_exact_mut(16 * LANES).zip((0..BLOCKS as u64).step_by(LANES)) {
                eight(key, first.wrapping_add(begin), out);
            }
        },
    );
}

#[inline(always)]
fn eight(key: &[u32; 8], first: u64, out: &mut [u32]) {
    let numbers: [u64; LANES] = from_fn(|lane| first.wrapping_add(lane as u64));
    // The number of a block takes two words; the other two name a stream, which is stream 0.
    let begin: [Lane; 16] = from_fn(|word| match word {
        0..4 => [CONSTANTS[word]; LANES],
        4..12 => [key[word - 4]; LANES],
        12 => numbers.map(|number| number as u32),
        13 => numbers.map(|number| (number >> 32) as u32),
        _ => [0; LANES],
    });
    let mut state = begin;
    for _ in 0..DOUBLE_ROUNDS {
        // On the columns, then on the diagonals.
        for turn in 0..2 {
            for column in 0..4 {
                let [b, c, d] = [1, 2, 3].map(|row| 4 * row + (column + turn * row) % 4);
                quarter(&mut state, [column, b, c, d]);
            }
        }
    }
    for (word, (state, begin)) in state.iter().zip(&begin).enumerate() {
        for (lane, (a, b)) in state.iter().zip(begin).enumerate() {
            out[16 * lane + word] = a.wrapping_add(*b);
        }
    }
}

#[inline(always)]
fn quarter(state: &mut [Lane; 16], [a, b, c, d]: [usize; 4]) {
    for (x, y, z, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[x] = from_fn(|lane| state[x][lane].wrapping_add(state[y][lane]));
        state[z] = from_fn(|lane| (state[z][lane] ^ state[x][lane]).rotate_left(bits));
    }
}
