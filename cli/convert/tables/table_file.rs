//! A table as a Parquet file: columns of values, written group by group.

use std::collections::HashMap;
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

/// Columns by name. Any value may be missing.
pub(super) struct Columns(Vec<Column>);

type Column = (&'static str, Values);

/// The values of a column.
#[derive(Debug)]
pub(super) enum Values {
    /// Numbers of 32 bits without a sign.
    Numbers(Vec<Option<u32>>),
    /// The same, most of them close to the one before.
    Ascending(Vec<Option<u32>>),
    /// Numbers of 64 bits.
    Longs(Vec<Option<i64>>),
    /// The same, most of them close to the one before.
    AscendingLongs(Vec<Option<i64>>),
    /// Milliseconds since 1970, UTC.
    Times(Vec<Option<i64>>),
    /// Estimates.
    Reals(Vec<Option<f64>>),
    /// Truth values.
    Flags(Vec<Option<bool>>),
    /// Texts in UTF-8.
    Texts(Vec<Option<ByteArray>>),
}

/// A file under construction.
pub(super) struct TableFile<'t> {
    folder: &'t Path,
    name: &'static str,
    /// What stands in the first column of every row.
    dump: ByteArray,
    /// `None` before the first rows, which have the names and types of all.
    writer: Option<SerializedFileWriter<File>>,
}

impl<'t> TableFile<'t> {
    /// The table `name` in this folder. Its first column is `dump`, the same in every row.
    pub(super) fn new(folder: &'t Path, name: &'static str, dump: &str) -> Self {
        Self {
            folder,
            name,
            dump: dump.into(),
            writer: None,
        }
    }

    /// Writes rows, whose columns have the same order each time and are equally long. The first
    /// call makes the file, even without rows.
    pub(super) fn write(&mut self, Columns(mut columns): Columns) -> io::Result<()> {
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        let dump = Values::Texts(vec![Some(self.dump.clone()); rows]);
        columns.insert(0, ("dump", dump));
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => create(self.folder, self.name, &columns)?,
        };
        let writer = self.writer.insert(writer);
        if rows == 0 {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(failed)?;
        for (_, values) in columns {
            let Some(mut column) = group.next_column().map_err(failed)? else {
                break;
            };
            values.write(column.untyped())?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }

    /// Ends the file and has it reach the disk; its bytes.
    pub(super) fn close(self) -> io::Result<u64> {
        let Some(writer) = self.writer else {
            return Ok(0);
        };
        let file = writer.into_inner().map_err(failed)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

/// An empty table with these columns.
fn create(folder: &Path, name: &str, columns: &[Column]) -> io::Result<SerializedFileWriter<File>> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
    let schema = Type::group_type_builder(name).with_fields(fields).build();
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for (name, values) in columns {
        if matches!(values, Values::Ascending(_) | Values::AscendingLongs(_)) {
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
    SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(failed)
}

/// A method that adds a column of this type.
macro_rules! columns {
    ($($(#[$doc:meta])* $method:ident: $variant:ident of $given:ty, $kept:expr;)*) => {
        impl Columns {
            $($(#[$doc])*
            pub(super) fn $method<T: Into<Option<$given>>>(
                self,
                name: &'static str,
                values: impl IntoIterator<Item = T>,
            ) -> Self {
                let values = values.into_iter().map(|value| value.into().map($kept));
                self.with(name, Values::$variant(values.collect()))
            })*
        }
    };
}

columns! {
    /// Numbers of 32 bits.
    numbers: Numbers of u32, |it| it;
    /// The same, most of them close to the one before.
    ascending: Ascending of u32, |it| it;
    /// Counts of bytes, objects or places.
    longs: Longs of u64, long;
    /// The same, most of them close to the one before.
    ascending_longs: AscendingLongs of u64, long;
    /// Numbers with a sign.
    signed: Longs of i64, |it| it;
    /// Milliseconds since 1970, UTC.
    times: Times of i64, |it| it;
    /// Estimates.
    reals: Reals of f64, |it| it;
    /// Truth values.
    flags: Flags of bool, |it| it;
}

impl Columns {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// With one more.
    pub(super) fn with(mut self, name: &'static str, values: Values) -> Self {
        self.0.push((name, values));
        self
    }

    /// Texts. Equal ones are kept once: a hostile file may have one long name in many rows.
    pub(super) fn texts<T: AsRef<str>>(
        self,
        name: &'static str,
        texts: impl IntoIterator<Item = Option<T>>,
    ) -> Self {
        let mut known: HashMap<Box<str>, ByteArray> = HashMap::new();
        let mut bytes = |text: T| {
            let text = text.as_ref();
            known.get(text).cloned().unwrap_or_else(|| {
                let bytes = ByteArray::from(text);
                known.insert(text.into(), bytes.clone());
                bytes
            })
        };
        let texts = texts.into_iter().map(|text| text.map(&mut bytes));
        self.with(name, Values::Texts(texts.collect()))
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Ascending(values) => values.len(),
            Self::Longs(values) | Self::AscendingLongs(values) | Self::Times(values) => {
                values.len()
            }
            Self::Reals(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    fn write(self, column: &mut ColumnWriter<'_>) -> io::Result<()> {
        match (self, column) {
            (
                Self::Numbers(values) | Self::Ascending(values),
                ColumnWriter::Int32ColumnWriter(to),
            ) => {
                let values = values.into_iter().map(|value| value.map(bits));
                put::<Int32Type>(values.collect(), to)
            }
            (
                Self::Longs(values) | Self::AscendingLongs(values) | Self::Times(values),
                ColumnWriter::Int64ColumnWriter(to),
            ) => put::<Int64Type>(values, to),
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

fn field((name, values): &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match values {
        Values::Numbers(_) | Values::Ascending(_) => {
            (Physical::INT32, Some(LogicalType::integer(32, false)))
        }
        Values::Longs(_) | Values::AscendingLongs(_) => (Physical::INT64, None),
        Values::Times(_) => {
            let unit = parquet::basic::TimeUnit::MILLIS;
            (Physical::INT64, Some(LogicalType::timestamp(true, unit)))
        }
        Values::Reals(_) => (Physical::DOUBLE, None),
        Values::Flags(_) => (Physical::BOOLEAN, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// The same bits with a sign: addresses, sizes and offsets are too small to have one, and hashes
/// may.
fn long(number: u64) -> i64 {
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
