//! Bytes that nobody would write: an error with exit code 2, no panic, and nothing left behind.

mod common;

use common::{Folder, ldp};
use std::fs;

/// A fixed generator.
struct Dice(u64);

impl Dice {
    fn next(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.next(from.len())]
    }
}

/// A table with some of its bytes replaced, doubled or taken away, by pieces that readers of tables trip over.
fn mutated(dice: &mut Dice, sound: &str, pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes = sound.as_bytes().to_vec();
    for _ in 0..=dice.next(6) {
        let (at, length) = (dice.next(bytes.len() + 1), dice.next(4));
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, dice.pick(pieces).iter().copied());
    }
    bytes
}

#[test]
fn tables_of_any_bytes_are_read_or_refused() {
    let pieces: [&[u8]; 24] = [
        b"",
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"\"",
        b"\"\"",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xff",
        b"1e999",
        b"nan",
        b"-inf",
        b"1,5",
        b"0x1",
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"PAR1\x15",
        b"\x1b[2J",
        b"\xf0\x9f\x98\x80",
        b"--",
    ];
    let folder = Folder::new();
    let mut dice = Dice(1);
    let (mut read, mut refused) = (0, 0);
    for number in 0..50 {
        let sound =
            ["id,x\n1,51234.5\n2,61234.5\n3,71234.5\n", "51234.5\n61234.5\n", "x\n51234.5\n61234.5\n"][number % 3];
        let bytes = mutated(&mut dice, sound, &pieces);
        let name = dice.pick(&["data.csv", "data.tsv", "data.txt", "data", "data.parquet", "-"]);
        let flags =
            dice.pick(&["", "--column x", "--no-header", "--skip-invalid", "--layout semicolon", "--layout lines"]);
        let run = ldp(
            "estimate --estimator one-stage:start=6e4 --model gaussian:sigma=1e4 --epsilon 1 --quiet --format json",
        )
        .with(flags);
        let ran = match name {
            "-" => run.on("-").fed(bytes.clone()).ends_at_once(),
            name => run.on(folder.file(name, &bytes)).ends_at_once(),
        };
        if ran.code == Some(0) {
            read += 1;
        } else {
            let ran = ran.failed_with(2);
            // No value of anybody is in the message, which goes to a pipe.
            let values = ["51234", "61234", "71234"];
            assert!(
                !values.iter().any(|value| ran.stderr.contains(value)),
                "{:?}: {ran:#?}",
                bytes.escape_ascii().to_string()
            );
            refused += 1;
        }
    }
    assert!(read >= 3 && refused >= 20, "{read} read, {refused} refused");
}

#[test]
fn studies_of_any_bytes_are_run_or_refused() {
    const SOUND: &str = "kind = \"comparison\"\ntitle = \"t\"\nseed = 1\nreplications = 3\n[[estimators]]\nspec = \
                         \"one-stage\"\n[[grid]]\nusers = [10, 20]\ntheta = 0\nepsilon = 1\n[figure]\nx = \"users\"\n";
    let pieces: [&[u8]; 24] = [
        b"",
        b"=",
        b"[",
        b"]",
        b"[[",
        b"\"",
        b"'",
        b"\"\"\"",
        b"\n",
        b"#",
        b",",
        b".",
        b"\\",
        b"\0",
        b"\xff",
        b"\xff\xfe",
        b"1e308",
        b"-1",
        b"nan",
        b"inf",
        b"true",
        b"1979-05-27",
        b"{a=1}",
        b"\xf0\x9f\x98\x80",
    ];
    let mut dice = Dice(2);
    let (mut run, mut refused) = (0, 0);
    for _ in 0..50 {
        let folder = Folder::new();
        let study = folder.file("study.toml", mutated(&mut dice, SOUND, &pieces));
        let out = folder.path("out");
        let ran = ldp("compare --quiet --format csv").on(study).on("--out").on(&out).ends_at_once();
        if ran.code == Some(0) {
            run += 1;
            assert!(out.join("record.json").exists() && !out.join("points.jsonl").exists());
        } else {
            let ran = ran.failed_with(2);
            assert!(!ran.stderr.contains("TOML parse error") && ran.stderr.contains("study.toml"), "{ran:#?}");
            assert!(!out.exists(), "{ran:#?}");
            assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 1, "{ran:#?}");
            refused += 1;
        }
    }
    assert!(refused >= 30, "{run} run, {refused} refused");
}
