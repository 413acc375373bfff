//! Rows some at a time, so that memory does not grow with their number.

use crate::error::Result;
use crate::model::onnx::graph::{Element, Graph, axis, graph, scalar, value};
use crate::model::onnx::protobuf::Message;

/// Largest number of rows at a time, and of the numbers that are made of them: four megabytes stay in a cache.
const MOST_ROWS: usize = 512;
const MOST_NUMBERS: usize = 1 << 19;

impl Graph {
    /// What `make` makes of rows, of which it is given some at a time: a table of `width` columns. `numbers` is how many numbers
    /// the largest table between has for a row.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn in_blocks(
        &mut self,
        rows: &str,
        width: usize,
        numbers: usize,
        make: impl FnOnce(&mut Self, &str) -> Result<String>,
    ) -> Result<String> {
        let most = (MOST_NUMBERS / numbers.max(1)).clamp(1, MOST_ROWS) as i64;
        let [zero, one, most] = [0, 1, most].map(|number| self.integers(&[], &[number]));
        let shape = self.op("Shape", &[rows]);
        let n = self.gather(&shape, &zero, 0);
        let block = self.op("Min", &[&n, &most]);
        let block = self.op("Max", &[&block, &one]);
        let before = self.op("Sub", &[&block, &one]);
        let up = self.op("Add", &[&n, &before]);
        let times = self.op("Div", &[&up, &block]);
        let places = self.op("Range", &[&zero, &block, &one]);
        let last = self.op("Sub", &[&n, &one]);
        let [time, go, goes_on] = ["time", "go", "goes on"].map(|of| self.name(of));
        let (nodes, made) = self.apart(|graph| {
            graph.named_node("Identity", &[&go], vec![], &goes_on);
            let first = graph.op("Mul", &[&time, &block]);
            let own = graph.op("Add", &[&places, &first]);
            // The last rows are fewer: the last of all fills them up.
            let own = graph.op("Min", &[&own, &last]);
            let some = graph.gather(rows, &own, 0);
            make(graph, &some)
        });
        let body = Message::new()
            .each(1, nodes)
            .bytes(2, "rows")
            .each(11, [scalar(&time, Element::Int64), scalar(&go, Element::Bool)])
            .each(12, [scalar(&goes_on, Element::Bool), value(&made?, Element::Double, Some(width))]);
        let all = self.node("Loop", &[&times, ""], vec![graph("body", body)]);
        let total = self.op("Mul", &[&times, &block]);
        let [total, n] = [total, n].map(|count| self.with_axis(&count, 0));
        let columns = self.integers(&[1], &[width as i64]);
        let shape = self.node("Concat", &[&total, &columns], vec![axis(0)]);
        // Of no rows, no length may be left open.
        let all = self.op("Reshape", &[&all, &shape]);
        let [begin, along] = [0, 0].map(|number| self.integers(&[1], &[number]));
        Ok(self.op("Slice", &[&all, &begin, &n, &along]))
    }
}
