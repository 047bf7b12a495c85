//! A table as a Parquet file: columns of values, written group by group.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

/// Who writes these files.
pub(super) const CREATED_BY: &str = concat!("hprof ", env!("CARGO_PKG_VERSION"));

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers of 32 bits without a sign.
    Number,
    /// The same, most of them close to the one before.
    Ascending,
    /// Numbers of 64 bits.
    Long,
    /// The same, most of them close to the one before.
    AscendingLong,
    /// Milliseconds since 1970, UTC.
    Time,
    /// Estimates.
    Real,
    /// Truth values.
    Flag,
    /// Texts in UTF-8.
    Text,
}

/// A column of a table. Any value may be missing.
pub(super) type Column = (&'static str, Kind);

/// The values of a column.
#[derive(Debug)]
pub(super) enum Values {
    Numbers(Vec<Option<u32>>),
    Longs(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<ByteArray>>),
}

/// A file under construction.
pub(super) struct TableFile {
    writer: SerializedFileWriter<File>,
    /// What stands in the first column of every row.
    dump: ByteArray,
}

impl TableFile {
    /// The table `name` in this folder. Its first column is `dump`, the same in every row.
    pub(super) fn create(
        folder: &Path,
        name: &str,
        columns: &[Column],
        dump: &str,
    ) -> io::Result<Self> {
        let columns: Vec<Column> = [("dump", Kind::Text)]
            .iter()
            .chain(columns)
            .copied()
            .collect();
        let fields = columns.iter().map(|column| field(*column).map(Arc::new));
        let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
        let schema = Type::group_type_builder(name).with_fields(fields).build();
        let mut properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(Default::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for (name, kind) in &columns {
            if matches!(kind, Kind::Ascending | Kind::AscendingLong) {
                let path = ColumnPath::from(*name);
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let mut options = File::options();
        // It may hold texts of the heap.
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(folder.join(format!("{name}.parquet")))?;
        let schema = Arc::new(schema.map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()));
        Ok(Self {
            writer: writer.map_err(failed)?,
            dump: dump.into(),
        })
    }

    /// Writes rows, whose columns come in order and are equally long.
    pub(super) fn write(&mut self, columns: Vec<Values>) -> io::Result<()> {
        let rows = columns.first().map_or(0, Values::len);
        if rows == 0 {
            return Ok(());
        }
        let dump = Values::Texts(vec![Some(self.dump.clone()); rows]);
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for values in std::iter::once(dump).chain(columns) {
            let Some(mut column) = group.next_column().map_err(failed)? else {
                break;
            };
            values.write(column.untyped())?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }

    /// Ends the file and has it reach the disk.
    pub(super) fn close(self) -> io::Result<u64> {
        let file = self.writer.into_inner().map_err(failed)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

impl Values {
    /// These texts.
    pub(super) fn texts<T: AsRef<str>>(texts: impl Iterator<Item = Option<T>>) -> Self {
        let bytes = |text: T| ByteArray::from(text.as_ref());
        Self::Texts(texts.map(|text| text.map(bytes)).collect())
    }

    /// These counts of bytes, objects or places.
    pub(super) fn longs(numbers: impl Iterator<Item = u64>) -> Self {
        Self::Longs(numbers.map(|number| Some(long(number))).collect())
    }

    /// These numbers.
    pub(super) fn numbers(numbers: impl Iterator<Item = u32>) -> Self {
        Self::Numbers(numbers.map(Some).collect())
    }

    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Longs(values) => values.len(),
            Self::Reals(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    fn write(self, column: &mut ColumnWriter<'_>) -> io::Result<()> {
        match (self, column) {
            (Self::Numbers(values), ColumnWriter::Int32ColumnWriter(to)) => {
                let values = values.into_iter().map(|value| value.map(bits));
                put::<Int32Type>(values.collect(), to)
            }
            (Self::Longs(values), ColumnWriter::Int64ColumnWriter(to)) => {
                put::<Int64Type>(values, to)
            }
            (Self::Reals(values), ColumnWriter::DoubleColumnWriter(to)) => {
                put::<DoubleType>(values, to)
            }
            (Self::Flags(values), ColumnWriter::BoolColumnWriter(to)) => {
                put::<BoolType>(values, to)
            }
            (Self::Texts(values), ColumnWriter::ByteArrayColumnWriter(to)) => {
                put::<ByteArrayType>(values, to)
            }
            // A column of values of another type would be a mistake in this command.
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

/// Writes a column with its missing values.
fn put<T: DataType>(
    values: Vec<Option<T::T>>,
    to: &mut parquet::column::writer::ColumnWriterImpl<'_, T>,
) -> io::Result<()> {
    let levels: Vec<i16> = values.iter().map(|it| i16::from(it.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    to.write_batch(&values, Some(&levels), None)
        .map(|_| ())
        .map_err(failed)
}

fn field((name, kind): Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Number | Kind::Ascending => (Physical::INT32, Some(LogicalType::integer(32, false))),
        Kind::Long | Kind::AscendingLong => (Physical::INT64, None),
        Kind::Time => {
            let unit = parquet::basic::TimeUnit::MILLIS;
            (Physical::INT64, Some(LogicalType::timestamp(true, unit)))
        }
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// The same bits with a sign: addresses, sizes and offsets are too small to have one, and hashes
/// may.
pub(super) fn long(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

/// As Parquet keeps numbers without a sign.
fn bits(number: u32) -> i32 {
    i32::from_ne_bytes(number.to_ne_bytes())
}

fn failed(fault: ParquetError) -> io::Error {
    match fault {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(fault) => *fault,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
