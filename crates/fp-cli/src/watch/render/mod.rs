//! `render`: a picture of two dimensions of a variable.

mod plane;

use std::io::Write;
use std::path::Path;

use fp_core::record::Loss;
use fp_core::{
    ArrayKind, Condition, Dtype, Judgement, ReadError, Select, Selection, StepReader, VariableInfo,
};
use fp_pictures::{Drawn, Field};
use serde::Serialize;

use super::line::judged;
use crate::arguments::{PicturePlace, Rendering};
use crate::failure::Failure;
use crate::tail::find;
use plane::Plane;

/// What was measured is cut there: a picture is no list.
const LIMIT_LETTERS: usize = 100;

/// A picture, for programs.
#[derive(Debug, Serialize)]
struct PictureLine<'a> {
    stream: &'a str,
    step: u64,
    picture: &'a Path,
    variable: &'a str,
    selection: String,
    /// The ends of the colour bar; null where no element is finite.
    low: Option<f64>,
    high: Option<f64>,
    /// The upper left pixel of the first element, as column and row.
    corner: [u32; 2],
    /// Each element is a square of so many pixels a side.
    element_pixels: u32,
    /// Rows and columns of elements with a line around.
    marked: Vec<[usize; 2]>,
}

/// Draws pictures of steps.
pub(super) struct Renderer<'a> {
    pub(super) stream: &'a str,
    pub(super) condition: &'a Condition,
    pub(super) json: bool,
}

impl Renderer<'_> {
    /// Draws what is asked for of a step, and says where the picture is.
    pub(super) fn render(
        &self,
        out: &mut impl Write,
        asked: &Rendering,
        step: &StepReader,
        judgement: &Judgement,
    ) -> Result<(), Failure> {
        let (info, selection) = find(step, &asked.target)?;
        let wrong = |what: String| Failure::NotDrawn {
            stream: self.stream.to_owned(),
            step: step.step(),
            variable: info.def.name.clone(),
            what,
        };
        check_type(&info).map_err(wrong)?;
        let plane = Plane::of(&info.shape.unwrap_or_default(), &selection).map_err(wrong)?;
        let elements = elements(step, &info, &selection)?;
        let field = Field::new(plane.shape(), &elements).map_err(|error| wrong(error.to_string()))?;
        let marked = self.marked(&info, &plane, judgement);
        let drawn = self.draw(field.clone(), &marked, (step, &info, &selection), (&plane, judgement));
        let path = asked.place.path(self.stream, &info.def.name, step.step().0);
        if matches!(asked.place, PicturePlace::Folder(_)) && path.exists() {
            return Err(Failure::Usage(format!("{} is there already: name another folder", path.display())));
        }
        drawn.picture.write_png(&path).map_err(|error| wrong(error.to_string()))?;
        self.tell(out, &path, (step, &info, &selection), (field.range(), &drawn, marked))
    }

    fn draw(
        &self,
        field: Field<'_>,
        marked: &[[usize; 2]],
        (step, info, selection): (&StepReader, &VariableInfo, &Selection),
        (plane, judgement): (&Plane, &Judgement),
    ) -> Drawn {
        let title = [
            format!("{}, step {}", self.stream, step.step()),
            format!("{}{selection}", info.def.name),
            judged(judgement).trim_start().chars().take(LIMIT_LETTERS).collect(),
        ];
        let field = field.with_title(title.into_iter().filter(|line: &String| !line.is_empty()));
        let field = field.with_unit(info.def.unit.clone().unwrap_or_default());
        let field = field.with_footer([plane.words(info)]);
        marked.iter().fold(field, |field, &mark| field.with_mark(mark)).draw()
    }

    /// The places of extrema of this variable that were measured, as far as the picture shows them.
    fn marked(&self, info: &VariableInfo, plane: &Plane, judgement: &Judgement) -> Vec<[usize; 2]> {
        let is_of_variable = |text: &String| {
            let measures = self.condition.measures();
            measures.iter().any(|of| of.variable() == info.def.name && of.to_string() == *text)
        };
        let measured = judgement.measured.iter().filter(|measured| is_of_variable(&measured.measure));
        measured.filter_map(|measured| plane.place(measured.place.as_deref()?)).collect()
    }

    fn tell(
        &self,
        out: &mut impl Write,
        path: &Path,
        (step, info, selection): (&StepReader, &VariableInfo, &Selection),
        (range, drawn, marked): (Option<[f64; 2]>, &Drawn, Vec<[usize; 2]>),
    ) -> Result<(), Failure> {
        if !self.json {
            return Ok(writeln!(out, "step {}  {}", step.step(), path.display())?);
        }
        let line = PictureLine {
            stream: self.stream,
            step: step.step().0,
            picture: path,
            variable: &info.def.name,
            selection: selection.to_string(),
            low: range.map(|[low, _]| low),
            high: range.map(|[_, high]| high),
            corner: drawn.corner,
            element_pixels: drawn.element_pixels,
            marked,
        };
        Ok(writeln!(out, "{}", serde_json::to_string(&line)?)?)
    }
}

fn check_type(info: &VariableInfo) -> Result<(), String> {
    match info.def.kind {
        ArrayKind::GlobalArray | ArrayKind::JoinedArray { .. } => {}
        kind @ (ArrayKind::Scalar | ArrayKind::LocalScalar | ArrayKind::LocalArray) => {
            return Err(format!("it is a {kind}, and pictures are of global and joined arrays"));
        }
    }
    let found = match (info.def.dtype, &info.def.record) {
        (_, Some(_)) => "records".to_owned(),
        (dtype @ (Dtype::C32 | Dtype::C64 | Dtype::Bytes | Dtype::String), None) => dtype.to_string(),
        #[rustfmt::skip]
        (Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 | Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64
            | Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 | Dtype::Bool, None) => return Ok(()),
    };
    Err(format!("its elements are {found}, and pictures are of integers, reals and truth values"))
}

/// The selected elements, in row-major order. Integers beyond 2^53 are rounded.
fn elements(step: &StepReader, info: &VariableInfo, selection: &Selection) -> Result<Vec<f64>, ReadError> {
    let name = &info.def.name;
    if info.def.dtype == Dtype::Bool {
        let array = step.get_array::<u8>(name, selection.clone())?;
        return Ok(array.iter().map(|&truth| f64::from(truth)).collect());
    }
    let select = Select::from(selection.clone()).with_conversion(Loss::Allowed);
    Ok(step.get_array::<f64>(name, select)?.iter().copied().collect())
}
