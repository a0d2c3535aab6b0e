//! The fields of a record type in short: `length: f64 angstrom`, `neighbours: u64[]`, `phase: Phase(Solid, Liquid)`.

use fp_core::record::{Extent, Field, FieldElement, RecordType};
use serde::Serialize;

/// A field of a record.
#[derive(Debug, Serialize)]
pub(crate) struct FieldSummary {
    /// Its name.
    name: String,
    /// What it is: `u32`, `f64[3]`, `Corner { x: f32, y: f32 }[]`.
    #[serde(rename = "type")]
    type_text: String,
    /// Whether it may be absent.
    optional: bool,
    /// The unit of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
}

impl FieldSummary {
    /// The fields of a record type, in their order.
    pub(crate) fn all(record: &RecordType) -> Vec<Self> {
        record.fields.iter().map(Self::new).collect()
    }

    fn new(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            type_text: format!("{}{}", element(&field.element), extent(&field.extent)),
            optional: field.optional,
            unit: field.unit.clone(),
        }
    }

    fn text(&self) -> String {
        let mark = if self.optional { "?" } else { "" };
        let unit = self.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        format!("{}{mark}: {}{unit}", self.name, self.type_text)
    }
}

/// The same in one line.
pub(crate) fn in_short(fields: &[FieldSummary]) -> String {
    let fields: Vec<String> = fields.iter().map(FieldSummary::text).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn element(element: &FieldElement) -> String {
    match element {
        FieldElement::Dtype(dtype) => dtype.to_string(),
        FieldElement::Enum(names) => {
            let variants: Vec<&str> = names.variants.iter().map(|(name, _)| name.as_str()).collect();
            format!("{}({})", names.name, variants.join(", "))
        }
        FieldElement::Record(record) => format!("{} {}", record.name, in_short(&FieldSummary::all(record))),
    }
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::One => String::new(),
        Extent::Fixed(shape, _) => format!("{:?}", shape.dims().to_vec()),
        Extent::Variable => "[]".to_owned(),
        Extent::SizedBy(field) => format!("[{field}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::record::EnumType;
    use fp_core::{Dtype, Shape};

    #[test]
    fn every_kind_of_field_has_its_text() {
        let corner = RecordType::new("Corner").field(Field::new("x", Dtype::F32));
        let phase = EnumType::new("Phase", Dtype::U8).variant("Solid", 1).variant("Liquid", 2);
        let cell = RecordType::new("Cell")
            .field(Field::new("phase", phase))
            .field(Field::new("temperature", Dtype::F64).with_unit("K"))
            .field(Field::new("place", Dtype::F64).fixed(Shape::new([2, 3]).unwrap()))
            .field(Field::new("corners", corner).variable())
            .field(Field::new("count", Dtype::U16))
            .field(Field::new("near", Dtype::U64).sized_by("count"))
            .field(Field::new("weight", Dtype::F64).optional());
        let text = in_short(&FieldSummary::all(&cell));
        assert_eq!(
            text,
            "{ phase: Phase(Solid, Liquid), temperature: f64 K, place: f64[2, 3], \
             corners: Corner { x: f32 }[], count: u16, near: u64[count], weight?: f64 }"
        );
        let json = serde_json::to_value(FieldSummary::all(&cell)).unwrap();
        assert_eq!((&json[1]["unit"], &json[3]["type"]), (&"K".into(), &"Corner { x: f32 }[]".into()));
    }
}
