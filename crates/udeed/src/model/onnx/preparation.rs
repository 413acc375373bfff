//! The preparation of rows as nodes of a graph.

use crate::data::{Column, Kind};
use crate::model::Model;
use crate::model::onnx::graph::{Element, Graph, axis, texts, to, value, whole, wholes};
use crate::prepare::FourierMap;

impl Graph {
    /// Rows as they come, made into features.
    pub(super) fn prepare(&mut self, model: &Model) -> String {
        let preparation = &model.preparation;
        let columns = &preparation.columns;
        let raw = if !model.by_column() {
            self.numbers("X", &preparation.fill)
        } else {
            let parts: Vec<String> = columns
                .iter()
                .zip(&preparation.fill)
                .filter_map(|(column, &fill)| self.column(column, fill, preparation.sparse))
                .collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            self.node("Concat", &parts, vec![axis(1)])
        };
        let width = preparation.factor.len();
        let shift = self.doubles(&[1, width], &preparation.shift);
        let factor = self.doubles(&[1, width], &preparation.factor);
        let shifted = self.op("Sub", &[&raw, &shift]);
        let scaled = self.op("Mul", &[&shifted, &factor]);
        match &preparation.fourier {
            Some(map) => self.fourier(map, width, &scaled),
            None => scaled,
        }
    }

    pub(super) fn fourier(&mut self, map: &FourierMap, width: usize, scaled: &str) -> String {
        let frequencies = self.doubles(&[width, map.n_features()], map.frequencies());
        let phases = self.doubles(&[1, map.n_features()], map.phases());
        let factor = self.number(map.factor());
        let products = self.op("MatMul", &[scaled, &frequencies]);
        let angles = self.op("Add", &[&products, &phases]);
        let cosines = self.op("Cos", &[&angles]);
        self.op("Mul", &[&cosines, &factor])
    }

    /// An input of numbers, those missing filled in.
    fn numbers(&mut self, name: &str, fill: &[f64]) -> String {
        self.inputs.push(value(name, Element::Float, Some(fill.len())));
        let missing = self.op("IsNaN", &[name]);
        let wide = self.node("Cast", &[name], vec![to(Element::Double)]);
        let fill = self.doubles(&[1, fill.len()], fill);
        self.op("Where", &[&missing, &fill, &wide])
    }

    /// An input for one column: its features, unless it has none.
    fn column(&mut self, column: &Column, fill: f64, sparse: bool) -> Option<String> {
        let Kind::Nominal { levels } = &column.kind else { return Some(self.numbers(&column.name, &[fill])) };
        let shown: Vec<i64> = (i64::from(sparse)..levels.len() as i64).collect();
        if shown.is_empty() {
            return None;
        }
        self.inputs.push(value(&column.name, Element::String, Some(1)));
        // An empty text is a missing value.
        let mut keys: Vec<&str> = levels.iter().map(String::as_str).collect();
        let mut numbers: Vec<i64> = (0..levels.len() as i64).collect();
        if !keys.contains(&"") {
            keys.push("");
            numbers.push(fill as i64);
        }
        let encode = vec![texts("keys_strings", keys), wholes("values_int64s", numbers), whole("default_int64", -1)];
        let level = self.node("LabelEncoder", &[&column.name], encode);
        let shown = self.integers(&[1, shown.len()], &shown);
        let equal = self.op("Equal", &[&level, &shown]);
        Some(self.node("Cast", &[&equal], vec![to(Element::Double)]))
    }
}
