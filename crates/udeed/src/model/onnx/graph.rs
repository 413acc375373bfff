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
    Bool = 9,
    Double = 11,
}

/// A graph while it is made: its parts are complete messages, values are known by name.
#[derive(Default)]
pub(super) struct Graph {
    /// Prefix of all names except those of inputs and outputs, so that none is given twice.
    prefix: String,
    /// Number of names given to values that nodes make.
    named: usize,
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

    /// The nodes that `make` adds, apart from all others, and what it returns. Constants stay with those of the whole graph.
    pub(super) fn apart<R>(&mut self, make: impl FnOnce(&mut Self) -> R) -> (Vec<Message>, R) {
        let others = std::mem::take(&mut self.nodes);
        let made = make(self);
        (std::mem::replace(&mut self.nodes, others), made)
    }

    /// A name that no other value has.
    pub(super) fn name(&mut self, of: &str) -> String {
        self.named += 1;
        format!("{}{}:{of}", self.prefix, self.named - 1)
    }

    /// Adds a node without attributes and returns the name of its result.
    pub(super) fn op(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node(operator, inputs, vec![])
    }

    /// Adds a node and returns the name of its result.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>) -> String {
        let name = self.name(operator);
        self.named_node(operator, inputs, attributes, &name);
        name
    }

    pub(super) fn named_node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>, output: &str) {
        self.nodes.push(node(operator, inputs, attributes, &[output]));
    }

    /// Adds a node of two results and returns their names.
    pub(super) fn pair(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>) -> (String, String) {
        let (first, second) = (self.name(operator), self.name(operator));
        self.nodes.push(node(operator, inputs, attributes, &[&first, &second]));
        (first, second)
    }

    /// Columns, or other parts, put side by side.
    pub(super) fn side_by_side(&mut self, columns: &[String]) -> String {
        if let [only] = columns {
            return only.clone();
        }
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        self.node("Concat", &columns, vec![axis(1)])
    }

    /// The sum of values of one shape.
    pub(super) fn sum(&mut self, values: &[String]) -> String {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        self.op("Sum", &values)
    }

    /// Those at some places along an axis.
    pub(super) fn gather(&mut self, from: &str, places: &str, along: i64) -> String {
        self.node("Gather", &[from, places], vec![axis(along)])
    }

    /// Those at one place along an axis, which is then gone.
    pub(super) fn at(&mut self, from: &str, place: usize, along: i64) -> String {
        let place = self.integers(&[], &[place as i64]);
        self.gather(from, &place, along)
    }

    /// Adds an axis of length 1.
    pub(super) fn with_axis(&mut self, value: &str, number: i64) -> String {
        let axes = self.integers(&[1], &[number]);
        self.op("Unsqueeze", &[value, &axes])
    }

    /// Takes away an axis of length 1.
    pub(super) fn without_axis(&mut self, value: &str, number: i64) -> String {
        let axes = self.integers(&[1], &[number]);
        self.op("Squeeze", &[value, &axes])
    }

    /// Another shape; 0 stands for a length that stays, -1 for what is left.
    pub(super) fn reshape(&mut self, value: &str, shape: &[i64]) -> String {
        let shape = self.integers(&[shape.len()], shape);
        self.op("Reshape", &[value, &shape])
    }

    /// The sums along an axis, of which length 1 is left.
    pub(super) fn sum_over(&mut self, value: &str, number: i64) -> String {
        let axes = self.integers(&[1], &[number]);
        self.op("ReduceSum", &[value, &axes])
    }

    /// A number of double precision.
    pub(super) fn number(&mut self, number: f64) -> String {
        self.doubles(&[], &[number])
    }

    /// Adds a constant of double precision and returns its name.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> String {
        self.constant(shape, Element::Double, |tensor| tensor.bytes(9, bytes(values)))
    }

    pub(super) fn integers(&mut self, shape: &[usize], values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(shape, Element::Int64, |tensor| tensor.bytes(9, bytes))
    }

    pub(super) fn constant(&mut self, shape: &[usize], of: Element, fill: impl FnOnce(Message) -> Message) -> String {
        let name = format!("{}constant {}", self.prefix, self.constants.len());
        self.constants.push(fill(tensor(shape, of)).bytes(8, &name));
        name
    }
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A tensor without its values.
fn tensor(shape: &[usize], of: Element) -> Message {
    shape.iter().fold(Message::new(), |tensor, &size| tensor.number(1, size as i64)).number(2, of as i64)
}

fn node(operator: &str, inputs: &[&str], attributes: Vec<Message>, outputs: &[&str]) -> Message {
    let domain = if ["LabelEncoder", "TreeEnsembleRegressor"].contains(&operator) { ML } else { "" };
    Message::new().each(1, inputs).each(2, outputs).bytes(4, operator).each(5, attributes).bytes(7, domain)
}

/// An attribute of a node: its name, and by ONNX's numbers what it holds.
fn attribute(name: &str, kind: i64) -> Message {
    Message::new().bytes(1, name).number(20, kind)
}

pub(super) fn axis(number: i64) -> Message {
    whole("axis", number)
}

/// An attribute that is a whole number.
pub(super) fn whole(name: &str, number: i64) -> Message {
    attribute(name, 2).number(3, number)
}

/// An attribute that is a list of whole numbers.
pub(super) fn wholes(name: &str, numbers: impl IntoIterator<Item = i64>) -> Message {
    numbers.into_iter().fold(attribute(name, 7), |list, number| list.number(8, number))
}

/// An attribute that is a list of texts.
pub(super) fn texts<'a>(name: &str, texts: impl IntoIterator<Item = &'a str>) -> Message {
    attribute(name, 8).each(9, texts)
}

/// An attribute that is a list of numbers of double precision.
pub(super) fn numbers(name: &str, values: &[f64]) -> Message {
    attribute(name, 4).bytes(5, tensor(&[values.len()], Element::Double).bytes(9, bytes(values)))
}

/// An attribute that is a graph.
pub(super) fn graph(name: &str, graph: Message) -> Message {
    attribute(name, 5).bytes(6, graph)
}

/// The type that a cast makes.
pub(super) fn to(element: Element) -> Message {
    whole("to", element as i64)
}

/// An input or output: a row a row, of some width if it is a table.
pub(super) fn value(name: &str, of: Element, width: Option<usize>) -> Message {
    let rows = Message::new().bytes(2, "rows");
    let columns = width.map(|width| Message::new().number(1, width as i64));
    shaped(name, of, std::iter::once(rows).chain(columns))
}

/// One number that goes into a graph within a graph, or comes out of it.
pub(super) fn scalar(name: &str, of: Element) -> Message {
    shaped(name, of, [])
}

fn shaped(name: &str, of: Element, lengths: impl IntoIterator<Item = Message>) -> Message {
    let tensor = Message::new().number(1, of as i64).bytes(2, Message::new().each(1, lengths));
    Message::new().bytes(1, name).bytes(2, Message::new().bytes(1, tensor))
}
