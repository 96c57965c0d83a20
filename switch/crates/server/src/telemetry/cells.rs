//! Copies of a program's cells: what a client was told last, and what is there now.
//!
//! Copies are made while the switch waits, into memory that is there already. Which cells have changed is found out
//! afterwards.

use phb_p4runtime::{Array, Code, Configuration, Refusal};
use phb_pipeline::{Count, Pipeline, WriteError};

use super::message::{self, Range};
use crate::authorization::{Result, refuse};
use crate::limits;

/// Where the program has an array.
#[derive(Clone, Copy)]
enum Number {
    Counter(usize),
    Register(usize),
}

/// Cells of one array.
struct Extent {
    array: Number,
    first: usize,
    count: usize,
}

/// The ranges of a request in the program that runs.
pub struct Layout(Vec<Extent>);

impl Layout {
    /// Looks the ranges up in a program.
    pub fn new(
        ranges: &[Range],
        configuration: &Configuration,
        pipeline: &Pipeline,
    ) -> Result<Self> {
        let ranges = ranges.iter().enumerate();
        let extents = ranges.map(|(place, range)| {
            extent(*range, configuration, pipeline).map_err(|mut refusal| {
                refusal.message = format!("ranges[{place}]: {}", refusal.message);
                refusal
            })
        });
        extents.collect::<Result<_>>().map(Self)
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.0.iter().map(|extent| extent.count).sum()
    }
}

fn extent(range: Range, configuration: &Configuration, pipeline: &Pipeline) -> Result<Extent> {
    let array = configuration.array(range.array_id)?;
    // The p4info has been checked against the program.
    let absent = |error: WriteError| Refusal {
        code: Code::Internal,
        message: error.message,
    };
    let (array, size, name) = match &array {
        Array::Counter(name) => {
            let number = pipeline.counter_number(name).map_err(absent)?;
            let size = pipeline.counter_cells(number).len();
            (Number::Counter(number), size, name)
        }
        Array::Register(name) => {
            let registers = pipeline.registers();
            let bits = registers.iter().find(|(known, ..)| known == name);
            let bits = bits.map_or(0, |(_, _, bits)| *bits);
            if bits > u64::BITS {
                let message = format!("register {name} has {bits} bits; 64 can be watched");
                return refuse(Code::Unimplemented, message);
            }
            let number = pipeline.register_number(name).map_err(absent)?;
            let size = pipeline.register_cells(number).len();
            (Number::Register(number), size, name)
        }
    };
    let (first, count) = (range.first as usize, range.count as usize);
    let end = if count == 0 { size } else { first + count };
    if first >= size || end > size {
        let last = if count == 0 {
            "the end".to_owned()
        } else {
            (end - 1).to_string()
        };
        let message = format!("cells {first} to {last} of {name}, which has {size}");
        return refuse(Code::OutOfRange, message);
    }
    Ok(Extent {
        array,
        first,
        count: end - first,
    })
}

/// What was told, and what is there.
struct Copies<T> {
    told: Vec<T>,
    now: Vec<T>,
}

impl<T: Copy + Default + PartialEq> Copies<T> {
    /// Memory that has been touched: a page that is missing would have the switch wait.
    fn new(count: usize, touched: T) -> Self {
        Self {
            told: vec![T::default(); count],
            now: vec![touched; count],
        }
    }

    fn read(&mut self, cells: Option<&[T]>) -> bool {
        let Some(cells) = cells else {
            return false;
        };
        self.now.copy_from_slice(cells);
        true
    }

    /// The next cell from a place on that has changed.
    fn changed(&self, from: usize) -> Option<usize> {
        let both = self.told[from..].iter().zip(&self.now[from..]);
        let ahead = both.take_while(|(told, now)| told == now).count();
        (from + ahead < self.now.len()).then_some(from + ahead)
    }

    fn told(&mut self) {
        std::mem::swap(&mut self.told, &mut self.now);
    }
}

enum Kind {
    Counts(Copies<Count>),
    Words(Copies<u64>),
}

/// A place among the cells of all extents.
#[derive(Clone, Copy)]
struct Place {
    extent: usize,
    cell: usize,
}

/// The cells of a layout.
pub struct Cells {
    layout: Layout,
    copies: Vec<Kind>,
    /// The next cell to be told.
    next: Option<Place>,
}

impl Cells {
    /// Makes room for a layout's cells. As far as the client knows, they are zero.
    pub fn new(layout: Layout) -> Self {
        let copies = layout.0.iter().map(|extent| match extent.array {
            Number::Counter(_) => Kind::Counts(Copies::new(extent.count, (u64::MAX, u64::MAX))),
            Number::Register(_) => Kind::Words(Copies::new(extent.count, u64::MAX)),
        });
        Self {
            copies: copies.collect(),
            layout,
            next: None,
        }
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.layout.cells()
    }

    /// Copies the cells of a program that the layout is of; `false` if it isn't.
    pub fn read(&mut self, pipeline: &Pipeline) -> bool {
        let mut extents = self.layout.0.iter().zip(&mut self.copies);
        extents.all(|(extent, copies)| {
            let cells = extent.first..extent.first + extent.count;
            match (extent.array, copies) {
                (Number::Counter(number), Kind::Counts(copies)) => {
                    copies.read(pipeline.counter_cells(number).get(cells))
                }
                (Number::Register(number), Kind::Words(copies)) => {
                    copies.read(pipeline.register_cells(number).get(cells))
                }
                _ => false,
            }
        })
    }

    /// Has all cells told that aren't zero.
    pub fn forget(&mut self) {
        for copies in &mut self.copies {
            match copies {
                Kind::Counts(copies) => copies.told.fill(Count::default()),
                Kind::Words(copies) => copies.told.fill(0),
            }
        }
    }

    /// Begins to tell what has changed.
    pub fn begin(&mut self) {
        self.next = self.changed(Place { extent: 0, cell: 0 });
    }

    /// Whether there is more to tell.
    pub fn is_more(&self) -> bool {
        self.next.is_some()
    }

    /// The next cells that have changed, of all ranges together up to [`limits::CELLS_OF_A_MESSAGE`].
    pub fn take(&mut self) -> Vec<message::Cells> {
        let mut taken: Vec<message::Cells> = Vec::new();
        for _ in 0..limits::CELLS_OF_A_MESSAGE {
            let Some(Place { extent, cell }) = self.next else {
                break;
            };
            let range = u32::try_from(extent).unwrap_or(u32::MAX);
            if taken.last().is_none_or(|last| last.range != range) {
                taken.push(message::Cells {
                    range,
                    ..message::Cells::default()
                });
            }
            if let Some(cells) = taken.last_mut() {
                let index = self.layout.0[extent].first + cell;
                cells.index.push(u32::try_from(index).unwrap_or(u32::MAX));
                match &self.copies[extent] {
                    Kind::Counts(copies) => {
                        let (packets, bytes) = copies.now[cell];
                        cells.packets.push(packets);
                        cells.bytes.push(bytes);
                    }
                    Kind::Words(copies) => cells.value.push(copies.now[cell]),
                }
            }
            let behind = Place {
                extent,
                cell: cell + 1,
            };
            self.next = self.changed(behind);
        }
        taken
    }

    /// Notes that the client has been told all.
    pub fn told(&mut self) {
        for copies in &mut self.copies {
            match copies {
                Kind::Counts(copies) => copies.told(),
                Kind::Words(copies) => copies.told(),
            }
        }
    }

    fn changed(&self, from: Place) -> Option<Place> {
        let mut cell = from.cell;
        for (extent, copies) in self.copies.iter().enumerate().skip(from.extent) {
            let found = match copies {
                Kind::Counts(copies) => copies.changed(cell),
                Kind::Words(copies) => copies.changed(cell),
            };
            if let Some(cell) = found {
                return Some(Place { extent, cell });
            }
            cell = 0;
        }
        None
    }
}
