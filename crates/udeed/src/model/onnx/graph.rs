//! An ONNX graph while it is made: nodes, constants, inputs and outputs.

use crate::model::onnx::protobuf::Message;

/// The domain of the operators for machine learning.
pub(super) const ML: &str = "ai.onnx.ml";

/// Types of the elements of a tensor, by ONNX's numbers.
#[derive(Clone, Copy)]
pub(super) enum Element {
    Float = 1,
    Int64 = 7,
    String = 8,
    Double = 11,
}

/// A graph while it is made: its parts are complete messages, values are known by name.
#[derive(Default)]
pub(super) struct Graph {
    /// Prefix of all names except those of inputs and outputs, so that none is given twice.
    prefix: String,
    nodes: Vec<Message>,
    constants: Vec<Message>,
    pub(super) inputs: Vec<Message>,
    pub(super) outputs: Vec<Message>,
}

impl Graph {
    /// An empty graph whose own names begin with a prefix.
    pub(super) fn new(prefix: String) -> Self {
        Graph { prefix, ..Graph::default() }
    }

    pub(super) fn into_message(self) -> Message {
        Message::new()
            .each(1, self.nodes)
            .bytes(2, "udeed")
            .each(5, self.constants)
            .each(11, self.inputs)
            .each(12, self.outputs)
    }

    /// Adds a node and returns the name of its result.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>) -> String {
        let name = format!("{}{}:{operator}", self.prefix, self.nodes.len());
        self.named_node(operator, inputs, attributes, &name);
        name
    }

    pub(super) fn named_node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>, output: &str) {
        let domain = if operator == "LabelEncoder" { ML } else { "" };
        let node = Message::new().each(1, inputs).bytes(2, output).bytes(4, operator).each(5, attributes);
        self.nodes.push(node.bytes(7, domain));
    }

    /// Adds a constant of double precision and returns its name.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(shape, Element::Double, |tensor| tensor.bytes(9, bytes))
    }

    pub(super) fn integers(&mut self, shape: &[usize], values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(shape, Element::Int64, |tensor| tensor.bytes(9, bytes))
    }

    pub(super) fn constant(&mut self, shape: &[usize], of: Element, fill: impl FnOnce(Message) -> Message) -> String {
        let name = format!("{}constant {}", self.prefix, self.constants.len());
        let dimensions = shape.iter().fold(Message::new(), |tensor, &size| tensor.number(1, size as i64));
        self.constants.push(fill(dimensions.number(2, of as i64)).bytes(8, &name));
        name
    }
}

/// An attribute of a node: its name, and by ONNX's numbers what it holds.
pub(super) fn attribute(name: &str, kind: i64) -> Message {
    Message::new().bytes(1, name).number(20, kind)
}

pub(super) fn axis(number: i64) -> Message {
    attribute("axis", 2).number(3, number)
}

/// The type that a cast makes.
pub(super) fn to(element: Element) -> Message {
    attribute("to", 2).number(3, element as i64)
}

/// An input or output: a row a row, of some width if it is a table.
pub(super) fn value(name: &str, of: Element, width: Option<usize>) -> Message {
    let rows = Message::new().bytes(2, "rows");
    let columns = width.map(|width| Message::new().number(1, width as i64));
    let shape = Message::new().each(1, std::iter::once(rows).chain(columns));
    let tensor = Message::new().number(1, of as i64).bytes(2, shape);
    Message::new().bytes(1, name).bytes(2, Message::new().bytes(1, tensor))
}
