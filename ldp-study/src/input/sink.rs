//! What happens to each cell: it is a finite number and goes to the spool, or it is refused, or skipped and counted.

use super::error::{Found, InputError, Label, Place};
use super::spool::SpoolWriter;
use super::{Allowed, Column, Options};

/// Rows between two calls of `progress`.
const REPORT: u64 = 1 << 16;
/// The largest length of a cell in bytes. A number has far fewer: the longest exact 64-bit one has 1,077.
pub(super) const LONGEST: usize = 2048;

/// Takes the cells of one column, in order.
pub(super) struct Sink<'a> {
    file: String,
    column: Label,
    spool: SpoolWriter,
    rows: u64,
    skipped: u64,
    skip_invalid: bool,
    allowed: Option<&'a Allowed>,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a> Sink<'a> {
    /// A sink for a column of `file` that is not yet known.
    pub fn new(file: String, options: &'a Options, progress: &'a mut dyn FnMut(u64)) -> Result<Self, InputError> {
        let spool = SpoolWriter::new()?;
        let (skip_invalid, allowed) = (options.skip_invalid, options.values.as_ref());
        Ok(Self { file, column: Label::Only, spool, rows: 0, skipped: 0, skip_invalid, allowed, progress })
    }

    /// Says which column the cells are from.
    pub fn set_column(&mut self, column: Label) {
        self.column = column;
    }

    /// Takes a cell of text.
    ///
    /// Decimal text is rounded to the nearest 64-bit number; one that rounds to infinity, like `1e999`, is refused.
    pub fn text(&mut self, place: Place, cell: &[u8]) -> Result<(), InputError> {
        let cell = cell.trim_ascii();
        let number = str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
        match number {
            Some(value) if f64::is_finite(value) && cell.len() <= LONGEST => self.accept(place, value),
            _ => self.refuse(place, Found::text(cell)),
        }
    }

    /// Takes a number.
    pub fn number(&mut self, place: Place, value: f64) -> Result<(), InputError> {
        if value.is_finite() { self.accept(place, value) } else { self.refuse(place, Found::NotFinite(value)) }
    }

    /// Takes something that is not a number.
    pub fn refuse(&mut self, place: Place, found: Found) -> Result<(), InputError> {
        if !self.skip_invalid {
            return Err(InputError::Cell { file: self.file.clone(), place, column: self.column.clone(), found });
        }
        self.skip();
        Ok(())
    }

    fn skip(&mut self) {
        self.skipped += 1;
        self.count();
    }

    fn accept(&mut self, place: Place, value: f64) -> Result<(), InputError> {
        if let Some(Allowed { model, support }) = self.allowed.filter(|allowed| !allowed.support.holds(value)) {
            if !self.skip_invalid {
                let (file, column) = (self.file.clone(), self.column.clone());
                return Err(InputError::Impossible {
                    file,
                    place,
                    column,
                    model: model.clone(),
                    support: support.to_string(),
                });
            }
            self.skip();
            return Ok(());
        }
        self.spool.push(value)?;
        self.count();
        Ok(())
    }

    fn count(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(REPORT) {
            (self.progress)(self.rows);
        }
    }

    /// The column, complete.
    pub fn finish(self) -> Result<Column, InputError> {
        if self.rows == self.skipped {
            return Err(InputError::NoRows { file: self.file, skipped: self.skipped });
        }
        (self.progress)(self.rows);
        Ok(Column { spool: self.spool.finish()?, skipped: self.skipped })
    }
}

#[cfg(test)]
mod tests {
    use ldp_simulate::RowStore;

    use super::*;

    fn taken(cell: &[u8]) -> Result<f64, Found> {
        let (mut ignore, options) = (|_| (), Options::default());
        let mut sink = Sink::new("f".to_owned(), &options, &mut ignore).unwrap();
        match sink.text(Place::Line(1), cell) {
            Ok(()) => Ok(sink.finish().unwrap().spool.value(0).unwrap()),
            Err(InputError::Cell { found, .. }) => Err(found),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn numbers_are_read_as_rust_reads_them() {
        for (cell, value) in
            [("1", 1.0), (" -2.5\t", -2.5), ("+.5", 0.5), ("5.", 5.0), ("1E-3", 0.001), ("1e-999", 0.0), ("-0", -0.0)]
        {
            assert_eq!(taken(cell.as_bytes()).unwrap().to_bits(), f64::to_bits(value), "{cell}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for cell in ["NaN", "inf", "-Infinity", "1e999", "-1e999", "abc", "1,5", "1_000", "0x10", "1 2", "−1", "1\0"]
        {
            assert!(matches!(taken(cell.as_bytes()), Err(Found::Text(_))), "{cell}");
        }
        assert_eq!(taken(b""), Err(Found::Empty));
        assert_eq!(taken(b" \t "), Err(Found::Empty));
        assert!(matches!(taken(b"\xff\xfe1"), Err(Found::Text(_))));
        assert!(matches!(taken(&[b'1'; LONGEST + 1]), Err(Found::Text(_))));
    }

    #[test]
    fn invalid_cells_are_counted_when_skipped() {
        let (mut ignore, options) = (|_| (), Options { skip_invalid: true, ..Options::default() });
        let mut sink = Sink::new("f".to_owned(), &options, &mut ignore).unwrap();
        sink.text(Place::Line(1), b"x").unwrap();
        sink.number(Place::Line(2), f64::NAN).unwrap();
        sink.number(Place::Line(3), 3.0).unwrap();
        let column = sink.finish().unwrap();
        assert_eq!((column.spool.rows(), column.skipped), (1, 2));

        let mut sink = Sink::new("f".to_owned(), &options, &mut ignore).unwrap();
        sink.refuse(Place::Line(1), Found::Null).unwrap();
        assert!(matches!(sink.finish(), Err(InputError::NoRows { skipped: 1, .. })));
    }
}
