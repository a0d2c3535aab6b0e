//! The conversion from one record type to another, compiled once for each pair of fingerprints.

mod columns;
mod run;

pub use run::ConvertError;

use columns::{Column, Columns, Work};

use super::array::ArrayConversion;
use super::byte_order::ByteOrder;
use super::difference::{Difference, differences};
use super::element::{ElementConversion, ElementForm, Loss};
use super::layout::{Place, RecordLayout, Slot, Unit};
use super::schema::RecordSchema;
use super::types::{Extent, Field, FieldElement, RecordType};
use crate::attribute::AttributeValue;
use crate::dtype::Dtype;
use crate::order::MemoryOrder;
use crate::shape::Shape;

/// Two types without a conversion, and all that they differ in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{from:?} is not {to:?}:{}", list(.differences, *.loss))]
pub struct Incompatible {
    /// The type that there is.
    pub from: String,
    /// The type that is wanted.
    pub to: String,
    /// What they differ in, also what alone would be no hindrance: [`Difference::is_fatal`] says which is.
    pub differences: Vec<Difference>,
    /// Whether values could be lost.
    pub loss: Loss,
}

/// What is in the way, and behind it the rest.
fn list(differences: &[Difference], loss: Loss) -> String {
    let lines = |fatal: bool, indent: &str| -> String {
        let listed = differences.iter().filter(|difference| difference.is_fatal(loss) == fatal);
        listed.map(|difference| format!("\n{indent}{difference}")).collect()
    };
    let (fatal, others) = (lines(true, "  "), lines(false, "    "));
    match (fatal.is_empty(), others.is_empty()) {
        (true, _) => lines(false, "  "),
        (false, true) => fatal,
        (false, false) => format!("{fatal}\n  no hindrance:{others}"),
    }
}

/// The conversion from one record type to another.
#[derive(Clone, Debug)]
pub struct Conversion {
    from: RecordSchema,
    to: RecordSchema,
    plan: RecordPlan,
    is_identity: bool,
}

impl Conversion {
    /// Compiles the conversion, or says field by field why there is none.
    pub fn new(from: &RecordSchema, to: &RecordSchema, loss: Loss) -> Result<Self, Incompatible> {
        let differences = differences(from, to);
        let orders = (from.byte_order(), to.byte_order());
        let refused = differences.iter().any(|difference| difference.is_fatal(loss));
        let sides = (from.record(), from.layout(), to.record(), to.layout());
        let plan = (!refused).then(|| RecordPlan::new(sides, orders)).flatten();
        let (from, to) = (from.clone(), to.clone());
        let Some(plan) = plan else {
            let (from, to) = (from.record().name.clone(), to.record().name.clone());
            return Err(Incompatible { from, to, differences, loss });
        };
        let is_identity = orders.0 == orders.1 && is_same(from.record(), to.record());
        Ok(Self { from, to, plan, is_identity })
    }

    /// Whether values of the one type are values of the other as they lie.
    pub fn is_identity(&self) -> bool {
        self.is_identity
    }

    /// The type that values are of before.
    pub fn source(&self) -> &RecordSchema {
        &self.from
    }

    /// The type that values are of after.
    pub fn destination(&self) -> &RecordSchema {
        &self.to
    }
}

/// Whether two records have the same values, byte for byte. Texts for people do not count.
fn is_same(a: &RecordType, b: &RecordType) -> bool {
    let same = |(a, b): (&Field, &Field)| {
        let shape = (&a.name, &a.extent, a.optional) == (&b.name, &b.extent, b.optional);
        // An absent field is read as the default of the type that it is read as.
        shape && is_same_element(&a.element, &b.element)
    };
    a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(same)
}

fn is_same_element(a: &FieldElement, b: &FieldElement) -> bool {
    match (a, b) {
        (FieldElement::Record(a), FieldElement::Record(b)) => is_same(a, b),
        // Names that the other one has more of change no value.
        _ => a.dtype().is_some() && a.dtype() == b.dtype(),
    }
}

/// How one record becomes another.
#[derive(Clone, Debug)]
struct RecordPlan {
    from_size: usize,
    to_size: usize,
    from_presence: usize,
    to_presence: usize,
    /// What is alike in every record.
    columns: Columns,
    /// All other fields, in their order at the destination.
    fields: Vec<FieldPlan>,
}

/// How one field is made.
#[derive(Clone, Debug)]
struct FieldPlan {
    /// Where it is at the source, and its presence bit there.
    from: Option<(usize, Option<usize>)>,
    to: usize,
    to_bit: Option<usize>,
    /// What it is made from where the source has none.
    fill: Fill,
    unit: UnitPlan,
    to_unit: Unit,
    place: PlacePlan,
}

/// What a field is where there is none.
#[derive(Clone, Debug)]
enum Fill {
    /// Zeros, or absent. A length that is not there is written by its list.
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many texts.
    Texts(String, usize),
}

/// How one element becomes another.
#[derive(Clone, Debug)]
enum UnitPlan {
    Number(ElementConversion),
    Text,
    Record(RecordPlan),
}

/// Where elements come from and go to.
#[derive(Clone, Debug)]
enum PlacePlan {
    /// So many within the record.
    Inline(usize),
    /// A fixed array of numbers in the other memory order.
    Transposed(ArrayConversion, Shape),
    /// Elsewhere.
    Elsewhere(Option<LengthPlan>),
}

/// The field that says how long a list is.
#[derive(Clone, Copy, Debug)]
struct LengthPlan {
    at: usize,
    dtype: Dtype,
    /// Whether nobody else writes it.
    is_written: bool,
}

/// The two types and layouts, source first.
type Sides<'a> = (&'a RecordType, &'a RecordLayout, &'a RecordType, &'a RecordLayout);
/// The two byte orders, source first.
type Orders = (ByteOrder, ByteOrder);

impl RecordPlan {
    /// The plan for types that have no fatal difference; nothing if they have one after all.
    fn new(sides: Sides<'_>, orders: Orders) -> Option<Self> {
        let (from_record, from_layout, to_record, to_layout) = sides;
        let mut plan = Self {
            from_size: from_layout.size_bytes,
            to_size: to_layout.size_bytes,
            from_presence: from_layout.presence_offset,
            to_presence: to_layout.presence_offset,
            columns: Columns::new(from_layout.size_bytes, to_layout.size_bytes),
            fields: Vec::new(),
        };
        for (index, (field, slot)) in to_record.fields.iter().zip(&to_layout.slots).enumerate() {
            let found = from_record.fields.iter().zip(&from_layout.slots);
            let found = found.into_iter().find(|(known, _)| known.name == field.name);
            let made = match found {
                Some(found) => FieldPlan::new(found, (field, slot), orders)?,
                None => FieldPlan::filled(field, slot, orders.1)?,
            };
            plan.add(made, (from_record, to_record, to_layout), index)?;
        }
        Some(plan)
    }

    fn add(
        &mut self,
        mut made: FieldPlan,
        (from_record, to_record, to_layout): (&RecordType, &RecordType, &RecordLayout),
        index: usize,
    ) -> Option<()> {
        if let (PlacePlan::Elsewhere(length), Place::Elsewhere(Some(of))) =
            (&mut made.place, to_layout.slots.get(index)?.place)
        {
            let (slot, field) = (to_layout.slots.get(of)?, to_record.fields.get(of)?);
            let Unit::Number(dtype) = slot.unit else { return None };
            let sized = |other: &Field| other.extent == Extent::SizedBy(field.name.clone());
            let is_first = to_record.fields.iter().position(sized) == Some(index);
            let is_written = is_first && from_record.fields.iter().all(|known| known.name != field.name);
            *length = Some(LengthPlan { at: slot.offset, dtype, is_written });
        }
        if !made.add_to(&mut self.columns) {
            self.fields.push(made);
        }
        Some(())
    }

    /// Whether records are made of nothing but what is alike in all of them, and every byte of it.
    fn covers(&self) -> bool {
        self.fields.is_empty() && self.columns.cover()
    }
}

impl FieldPlan {
    fn new(
        (from_field, from_slot): (&Field, &Slot),
        (field, slot): (&Field, &Slot),
        orders: Orders,
    ) -> Option<Self> {
        let unit = match (&from_field.element, &from_slot.unit, &field.element, &slot.unit) {
            (FieldElement::Record(a), Unit::Record(from), FieldElement::Record(b), Unit::Record(to)) => {
                UnitPlan::Record(RecordPlan::new((a, from, b, to), orders)?)
            }
            (_, Unit::Text, _, Unit::Text) => UnitPlan::Text,
            (_, Unit::Number(from), _, Unit::Number(to)) => UnitPlan::Number(number(*from, *to, orders)?),
            _ => return None,
        };
        let place = match (&from_field.extent, &field.extent, slot.place) {
            (Extent::Fixed(_, a), Extent::Fixed(shape, b), _) if a != b && shape.ndims() > 1 => {
                PlacePlan::Transposed(transposed((from_slot, *a), (slot, *b), orders)?, *shape)
            }
            (_, _, Place::Inline(count)) => PlacePlan::Inline(count),
            (_, _, Place::Elsewhere(_)) => PlacePlan::Elsewhere(None),
        };
        let filled = Self::filled(field, slot, orders.1)?;
        Some(Self { from: Some((from_slot.offset, from_slot.presence_bit)), unit, place, ..filled })
    }

    /// A field that the source does not have.
    fn filled(field: &Field, slot: &Slot, order: ByteOrder) -> Option<Self> {
        let (place, count) = match slot.place {
            Place::Inline(count) => (PlacePlan::Inline(count), count),
            Place::Elsewhere(_) => (PlacePlan::Elsewhere(None), 0),
        };
        let fill = match (&field.default, &slot.unit) {
            (Some(value), Unit::Number(dtype)) => {
                Fill::Bytes(default_bytes(value, *dtype, order)?.repeat(count))
            }
            (Some(AttributeValue::Text(text)), Unit::Text) => Fill::Texts(text.clone(), count),
            _ => Fill::Nothing,
        };
        let (to, to_bit, to_unit) = (slot.offset, slot.presence_bit, slot.unit.clone());
        Some(Self { from: None, to, to_bit, fill, unit: UnitPlan::Text, to_unit, place })
    }

    /// Adds the field to the columns if it is alike in every record; says whether it was.
    fn add_to(&self, columns: &mut Columns) -> bool {
        let to = (self.to, self.to_unit.size_bytes());
        match (self.from, &self.place, &self.unit, &self.fill) {
            // Absent, or zeros, which is how memory comes.
            (None, ..) if self.to_bit.is_some() => true,
            (None, _, _, Fill::Nothing) => true,
            (None, _, _, Fill::Bytes(bytes)) => {
                let to = (self.to, bytes.len());
                columns.add(Column { from: (0, 0), to, work: Work::Fill(bytes.clone()) });
                true
            }
            (Some((from, None)), PlacePlan::Inline(count), unit, _) if self.to_bit.is_none() => match unit {
                UnitPlan::Number(conversion) => {
                    let from = (from, conversion.sizes_bytes().0 * count);
                    let work = match conversion.is_identity() {
                        true => Work::Copy,
                        false => Work::Convert(conversion.clone().of_numbers()),
                    };
                    columns.add(Column { from, to: (to.0, to.1 * count), work });
                    true
                }
                UnitPlan::Record(plan) if plan.fields.is_empty() => {
                    columns.add_nested(&plan.columns, (from, self.to), *count)
                }
                UnitPlan::Text | UnitPlan::Record(_) => false,
            },
            _ => false,
        }
    }
}

/// The conversion of a number. That it may lose something was decided when the types were compared.
fn number(from: Dtype, to: Dtype, orders: Orders) -> Option<ElementConversion> {
    let form = |dtype, byte_order| ElementForm { dtype, byte_order };
    ElementConversion::new(form(from, orders.0), form(to, orders.1), Loss::Allowed).ok()
}

/// The conversion of a fixed array to the other memory order. Of other elements than numbers there is none.
fn transposed(
    (from, a): (&Slot, MemoryOrder),
    (to, b): (&Slot, MemoryOrder),
    orders: Orders,
) -> Option<ArrayConversion> {
    let (Unit::Number(found), Unit::Number(wanted)) = (&from.unit, &to.unit) else { return None };
    let form = |dtype: Dtype, byte_order| ElementForm { dtype, byte_order };
    let sides = ((form(*found, orders.0), a), (form(*wanted, orders.1), b));
    ArrayConversion::new(sides.0, sides.1, Loss::Allowed).ok()
}

/// The bytes of a default.
fn default_bytes(value: &AttributeValue, dtype: Dtype, order: ByteOrder) -> Option<Vec<u8>> {
    let (from, bytes) = match value {
        AttributeValue::Bool(value) => (Dtype::Bool, vec![u8::from(*value)]),
        AttributeValue::Integer(number) => (Dtype::I64, number.to_ne_bytes().to_vec()),
        AttributeValue::Unsigned(number) => (Dtype::U64, number.to_ne_bytes().to_vec()),
        AttributeValue::Real(number) => (Dtype::F64, number.0.to_ne_bytes().to_vec()),
        AttributeValue::Text(_)
        | AttributeValue::Bytes(_)
        | AttributeValue::Integers(_)
        | AttributeValue::Reals(_)
        | AttributeValue::Texts(_) => return None,
    };
    let mut out = vec![0; dtype.size_bytes()?];
    number(from, dtype, (ByteOrder::NATIVE, order))?.run(&bytes, &mut out).ok()?;
    Some(out)
}
