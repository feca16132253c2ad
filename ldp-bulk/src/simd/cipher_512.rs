//! ChaCha12, sixteen blocks at a time with AVX-512.
//!
//! A block is a square of 4 × 4 words, and a register holds the same row of four blocks. Four such sets are computed side by
//! side, so that the processor need not wait for the end of an operation to begin the next.

use super::cipher::{BLOCKS, CONSTANTS, DOUBLE_ROUNDS, WORDS};
use std::arch::x86_64::*;
use std::array::from_fn;

/// Registers for the same row of all blocks.
const SETS: usize = BLOCKS / 4;
/// The same row of four blocks, four times.
type Row = [__m512i; SETS];

/// A proof that the processor has AVX-512: there is none elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    /// The proof, where the processor has it.
    pub(super) fn new() -> Option<Self> {
        is_x86_feature_detected!("avx512f").then_some(Self(()))
    }

    /// The blocks from number `first` on, one after the other.
    pub(super) fn blocks(self, key: &[u32; 8], first: u64, words: &mut [u32; WORDS]) {
        // SAFETY: there is a value of this type only if the processor has AVX-512.
        unsafe { blocks(key, first, words) };
    }
}

#[target_feature(enable = "avx512f")]
fn blocks(key: &[u32; 8], first: u64, out: &mut [u32; WORDS]) {
    let (a0, b0, c0) = (broadcast(&CONSTANTS, 0), broadcast(key, 0), broadcast(key, 4));
    // The number of a block takes two words; the other two name a stream, which is stream 0.
    let number = |block: usize| first.wrapping_add(block as u64).cast_signed();
    let d0: Row = from_fn(|set| {
        let [one, two, three, four] = from_fn(|i| number(4 * set + i));
        _mm512_setr_epi64(one, 0, two, 0, three, 0, four, 0)
    });
    let (mut a, mut b, mut c, mut d) = ([a0; SETS], [b0; SETS], [c0; SETS], d0);
    for _ in 0..DOUBLE_ROUNDS {
        quarters(&mut a, &mut b, &mut c, &mut d);
        turn::<LEFT, HALF, RIGHT>(&mut b, &mut c, &mut d);
        quarters(&mut a, &mut b, &mut c, &mut d);
        turn::<RIGHT, HALF, LEFT>(&mut b, &mut c, &mut d);
    }
    let (four_blocks, _) = out.as_chunks_mut::<64>();
    for (set, out) in four_blocks.iter_mut().enumerate() {
        let (a, b) = (_mm512_add_epi32(a[set], a0), _mm512_add_epi32(b[set], b0));
        let (c, d) = (_mm512_add_epi32(c[set], c0), _mm512_add_epi32(d[set], d0[set]));
        // From the same row of four blocks to the four rows of a block.
        let (low, high) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0x44>(c, d));
        let (rest, last) = (_mm512_shuffle_i32x4::<0xEE>(a, b), _mm512_shuffle_i32x4::<0xEE>(c, d));
        let whole = [
            _mm512_shuffle_i32x4::<0x88>(low, high),
            _mm512_shuffle_i32x4::<0xDD>(low, high),
            _mm512_shuffle_i32x4::<0x88>(rest, last),
            _mm512_shuffle_i32x4::<0xDD>(rest, last),
        ];
        for (block, words) in whole.into_iter().zip(out.as_chunks_mut::<16>().0) {
            // SAFETY: sixteen words are 64 bytes, and need no alignment here.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), block) };
        }
    }
}

/// Four words, in each of the four blocks.
#[target_feature(enable = "avx512f")]
#[inline]
fn broadcast(words: &[u32], from: usize) -> __m512i {
    let [a, b, c, d] = from_fn(|i| words[from + i].cast_signed());
    _mm512_broadcast_i32x4(_mm_setr_epi32(a, b, c, d))
}

/// The quarter rounds on all columns.
#[target_feature(enable = "avx512f")]
#[inline]
fn quarters(a: &mut Row, b: &mut Row, c: &mut Row, d: &mut Row) {
    add_xor_rotate::<16>(a, b, d);
    add_xor_rotate::<12>(c, d, b);
    add_xor_rotate::<8>(a, b, d);
    add_xor_rotate::<7>(c, d, b);
}

/// Adds `y` to `x`, and what comes of it to `z`, without carry, which is then rotated.
#[target_feature(enable = "avx512f")]
#[inline]
fn add_xor_rotate<const BITS: i32>(x: &mut Row, y: &Row, z: &mut Row) {
    for set in 0..SETS {
        x[set] = _mm512_add_epi32(x[set], y[set]);
        z[set] = _mm512_rol_epi32::<BITS>(_mm512_xor_si512(z[set], x[set]));
    }
}

/// Orders of the four words of a row: turned by one, by two, by three.
const LEFT: i32 = 0b00_11_10_01;
const HALF: i32 = 0b01_00_11_10;
const RIGHT: i32 = 0b10_01_00_11;

/// Turns rows, so that diagonals become columns, or back.
#[target_feature(enable = "avx512f")]
#[inline]
fn turn<const B: i32, const C: i32, const D: i32>(b: &mut Row, c: &mut Row, d: &mut Row) {
    for set in 0..SETS {
        b[set] = _mm512_shuffle_epi32::<B>(b[set]);
        c[set] = _mm512_shuffle_epi32::<C>(c[set]);
        d[set] = _mm512_shuffle_epi32::<D>(d[set]);
    }
}
