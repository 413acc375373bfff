//! A page on this machine to label rows on, the most useful first.
//!
//! A [`Desk`] has the rows, the session of labeling ([`udeed::labeling::Session`]) and the file of answers; a thread of its own
//! learns from the answers and suggests the next rows. A [`Server`] shows the desk as a page on `127.0.0.1`, to whoever knows
//! the random token in its address. Nothing is loaded from elsewhere.
//!
//! ```
//! use std::collections::BTreeMap;
//! use udeed::labeling::Reply;
//! use udeed::prelude::*;
//! use udeed_label::{Damaged, Desk, Project, Rows};
//!
//! /// Rows as text: here they are numbers.
//! struct Numbers(Vec<String>);
//!
//! impl Rows for Numbers {
//!     fn columns(&self) -> &[String] {
//!         &self.0
//!     }
//!     fn read(&self, wanted: &[usize]) -> std::io::Result<BTreeMap<usize, Vec<String>>> {
//!         Ok(wanted.iter().map(|&row| (row, vec![row.to_string()])).collect())
//!     }
//!     fn find(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> std::io::Result<Vec<usize>> {
//!         Ok((0..30).filter(|row: &usize| matches(&row.to_string())).take(most).collect())
//!     }
//! }
//!
//! let values: Vec<[f64; 1]> = (0..30).map(|i| [f64::from(i)]).collect();
//! let train = TrainSet::new(Table::from_rows(&values)?, Labels::unlabeled(30))?;
//! let rows = Box::new(Numbers(vec!["size".into()]));
//! let project = Project::new("sizes", train, rows, Auto::new());
//! let folder = tempfile::tempdir().unwrap();
//! let desk = Desk::open(project, &folder.path().join("sizes.labels.csv"), Damaged::Refused)?;
//! desk.reply(Reply::Class("small".into()))?;
//! assert_eq!(desk.progress().answered, 1);
//! # Ok::<(), udeed_label::Error>(())
//! ```

mod answers;
mod cells;
mod desk;
mod distribution;
mod error;
mod http;
mod media;
mod merge;
mod page;
mod routes;
mod server;
mod state;

pub use answers::{Damaged, fingerprint};
pub use cells::Rows;
pub use desk::{Desk, Finished, Part, Project};
pub use error::{Error, Hint, Result};
pub use merge::{Conflict, Merged, merge};
pub use server::{Ending, Server};
