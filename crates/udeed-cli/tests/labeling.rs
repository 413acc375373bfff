//! `udeed suggest` and `udeed doubt`.
#![allow(clippy::unwrap_used)]

mod support;

use support::{FRUIT, Folder, text};

/// 60 rows of two groups, the first few labeled, with an identifier and a price.
fn groups(labeled: usize) -> String {
    let mut rows = String::from("id,size,weight,price,kind\n");
    for i in 0..60 {
        let (kind, at) = if i % 2 == 0 { ("small", 1.0) } else { ("large", 6.0) };
        let (size, weight) = (at + f64::from(i % 7) / 5.0, at - f64::from(i % 5) / 4.0);
        let kind = if (i as usize) < labeled { kind } else { "" };
        rows.push_str(&format!("\"no, {i:03}\",{size:.1},{weight:.2},{},{kind}\n", 1 + i % 3));
    }
    rows
}

/// The cells of a CSV text without quoted commas.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn suggested_rows_are_written_as_they_are_in_the_file() {
    let folder = Folder::with("rows.csv", groups(12));
    let printed = folder.run("suggest rows.csv --label kind --drop id --count 4 --out ask.csv");
    let asked = text(&folder.bytes("ask.csv"));
    let lines: Vec<&str> = asked.lines().collect();
    assert_eq!((lines[0], lines.len()), ("row,id,size,weight,price,kind", 5));
    let file = groups(12);
    for (line, row) in lines[1..].iter().zip(printed.lines().skip(2)) {
        let (number, cells) = line.split_once(',').unwrap();
        assert_eq!(row.split_whitespace().next(), Some(number), "the table has the rows of the file");
        assert_eq!(file.lines().nth(number.parse().unwrap()), Some(cells));
        assert!(number.parse::<usize>().unwrap() > 12 && cells.ends_with(','), "row {number} has no label");
    }
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert_eq!(printed, folder.run("suggest rows.csv --label kind --drop id --count 4 --threads 1"));
    assert_ne!(printed, folder.run("suggest rows.csv --label kind --drop id --count 4 --seed 5"));
}

#[test]
fn suggested_rows_go_to_standard_output() {
    let folder = Folder::with("rows.csv", groups(0).replace(',', ";").replace("\"no; ", "\"no, "));
    let asked = folder.run("suggest rows.csv --delimiter ; --label kind --drop id --count 3 --out -");
    let rows: Vec<&str> = asked.lines().skip(1).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.contains("\"no, ")), "{asked}");
}

#[test]
fn no_label_is_needed() {
    let folder = Folder::with("rows.csv", groups(0));
    let printed = folder.run("suggest rows.csv --label kind --drop id --count 2");
    assert!(printed.contains("no model: the labels are too few"), "{printed}");
    let told = folder.told("suggest rows.csv --label kind --drop id --strategy margin --per-class 1");
    assert!(told.contains("chosen by `variance-reduction`") && told.contains("not limited"), "{told}");
    let told = folder.told("suggest rows.csv --drop id,kind");
    assert!(told.contains("every row is taken as unlabeled"), "{told}");
}

#[test]
fn rows_come_from_a_second_file_and_a_model() {
    let folder = Folder::with("rows.csv", groups(20));
    // Other columns in another order, and no labels.
    let more: Vec<String> = cells(&groups(0).replace("\"no, ", "").replace('"', ""))
        .iter()
        .map(|row| format!("{},{},{}", row[2], row[1], row[0]))
        .collect();
    folder.write("more.csv", more.join("\n") + "\n");
    folder.run("fit rows.csv --label kind --drop id,price --out model --folds 0");
    for limits in ["", "--memory 1K"] {
        let call = format!("suggest rows.csv --unlabeled more.csv --model model --count 30 --out ask.csv {limits}");
        let printed = folder.run(&call);
        let asked = text(&folder.bytes("ask.csv"));
        assert!(asked.starts_with("file,row,id,size,weight,price,kind\n"), "{asked}");
        let from_more: Vec<&str> = asked.lines().filter(|line| line.starts_with("more.csv,")).collect();
        assert!(!from_more.is_empty() && asked.lines().any(|line| line.starts_with("rows.csv,")), "{asked}");
        for line in from_more {
            let own: Vec<&str> = line.split(',').collect();
            let row = &more[own[1].parse::<usize>().unwrap()];
            assert_eq!(row.split(',').collect::<Vec<_>>(), [own[4], own[3], own[2]]);
        }
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    }
}

#[test]
fn other_formats_are_written_as_csv() {
    let folder = Folder::new();
    folder.run("data split ionosphere train.libsvm test.libsvm --labeled 0.2");
    folder.run("suggest train.libsvm --count 2 --out ask.csv");
    let asked = text(&folder.bytes("ask.csv"));
    assert!(asked.starts_with("row,1,") && asked.lines().count() == 3, "{asked}");
    folder.fail_with(1, "suggest vote --count 2", &["vote", "no unlabeled row"]);
}

#[test]
fn a_second_file_has_the_format_of_its_name() {
    let folder = Folder::with("rows.dat", groups(12));
    let rows: String = (0..40).map(|i| format!("{},{},1\n", i % 9, i * i % 11)).collect();
    let columns = ["size", "weight", "price"].map(|name| format!("@attribute {name} numeric\n")).concat();
    folder.write("more.arff", format!("@relation more\n{columns}@data\n{rows}"));
    let line = "suggest rows.dat --format csv --label kind --drop id --unlabeled more.arff --count 30 --out -";
    let asked = cells(&folder.run(line));
    assert_eq!(asked[0], ["file", "row", "id", "size", "weight", "price", "kind"]);
    let more: Vec<&Vec<String>> = asked.iter().filter(|cells| cells[0] == "more.arff").collect();
    assert!(more.len() > 5, "{asked:?}");
    for cells in more {
        let row: usize = cells[1].parse().unwrap();
        let expected: Vec<&str> = rows.lines().nth(row - 1).unwrap().split(',').collect();
        assert_eq!(cells[3..6], expected, "row {row}");
    }
}

/// A pipe beside the rows.
#[cfg(unix)]
fn pipe_of(folder: &Folder) -> std::path::PathBuf {
    let pipe = folder.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

#[cfg(unix)]
#[test]
fn rows_that_can_be_read_only_once_are_written_as_they_were_read() {
    let folder = Folder::with("rows.csv", groups(12));
    let [pipe, rows] = [pipe_of(&folder), folder.file("rows.csv")];
    let feed = std::thread::spawn(move || std::fs::copy(rows, pipe).unwrap());
    let asked = folder.run("suggest pipe --format csv --label kind --drop id --count 3 --out -");
    feed.join().unwrap();
    assert!(asked.starts_with("row,size,weight,price,kind\n") && asked.lines().count() == 4, "{asked}");
    folder.fail_with(2, "suggest pipe --format csv --label kind --cost price", &["`--cost`", "can be read twice"]);
}

/// The second file is a pipe, which nobody writes to until the first one is another.
#[cfg(unix)]
#[test]
fn rows_that_change_while_others_are_read_are_refused() {
    let folder = Folder::with("rows.csv", groups(12));
    let [pipe, rows] = [pipe_of(&folder), folder.file("rows.csv")];
    let feed = std::thread::spawn(move || {
        // Opened once the other side reads it.
        let mut pipe = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
        std::fs::write(rows, groups(20)).unwrap();
        std::io::Write::write_all(&mut pipe, groups(0).as_bytes()).unwrap();
    });
    let call = "suggest rows.csv --format csv --label kind --drop id --unlabeled pipe";
    folder.fail_with(1, call, &["rows.csv: found a file that changed while it was read"]);
    feed.join().unwrap();
}

#[test]
fn costs_decide_and_are_no_feature() {
    let folder = Folder::with("rows.csv", groups(12));
    let asked = |options: &str| {
        let rows = folder.run(&format!("suggest rows.csv --label kind --drop id --count 6 --out - {options}"));
        rows.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (free, priced) = (asked(""), asked("--cost price"));
    let sum = |prices: &[String]| prices.iter().map(|price| price.parse::<f64>().unwrap()).sum::<f64>();
    assert!(sum(&priced) < sum(&free), "{free:?} {priced:?}");
    folder.write("bad.csv", groups(12).replace(",3,\n", ",0,\n"));
    let row = groups(12).lines().skip(1).position(|line| line.ends_with(",3,")).unwrap() + 1;
    let place = format!("bad.csv, row {row}, column `price`: found 0, expected a positive number");
    folder.fail_with(1, "suggest bad.csv --label kind --drop id --cost price", &[&place]);
    // Rows are counted within their file, and a cost that is missing is none.
    let cost = "suggest rows.csv --label kind --drop id --cost price --unlabeled";
    for (price, found) in [("0", "0"), ("", "nothing")] {
        folder.write("bad.csv", groups(0).replace(",3,\n", &format!(",{price},\n")));
        let place = format!("error: bad.csv, row 3, column `price`: found {found}, expected a positive number");
        folder.fail_with(1, &format!("{cost} bad.csv"), &[&place]);
    }
    folder.fail_with(2, "suggest - --label kind --cost price", &["`--cost`"]);
    folder.fail_with(1, "suggest rows.csv --label kind --drop id --cost prize", &["`prize`"]);
    for option in ["--cost", "--weight"] {
        let told = format!("`{option}` names `kind`, the column of the labels, expected another one");
        folder.fail_with(2, &format!("suggest rows.csv --label kind --drop id {option} kind"), &[&told]);
    }
}

#[test]
fn suggestions_that_cannot_be_are_refused() {
    let folder = Folder::with("rows.csv", groups(60));
    folder.fail_with(1, "suggest rows.csv --label kind --drop id", &["no unlabeled row"]);
    folder.write("some.csv", groups(12));
    folder.fail_with(2, "suggest some.csv --label kind --count 0", &["`count` is 0"]);
    folder.fail_with(2, "suggest some.csv --label kind --method boggling", &["`bagging`"]);
    folder.fail_with(2, "suggest some.csv --label kind --out some.csv", &["cannot be written"]);
    folder.fail_with(1, "suggest some.csv --label colour", &["`colour`"]);
    let few = folder.told("suggest some.csv --label kind --drop id --count 100 --method bagging");
    assert!(few.contains("warning: 48 rows to suggest, and 100 were asked for"), "{few}");
}

#[test]
fn a_wrong_label_is_doubted_first() {
    let wrong = groups(40).replace("\"no, 010\",1.6,1.00,2,small", "\"no, 010\",1.6,1.00,2,large");
    assert_ne!(wrong, groups(40));
    let folder = Folder::with("rows.csv", wrong);
    let printed = folder.run("doubt rows.csv --label kind --drop id --count 3 --out all.csv");
    let first: Vec<&str> = printed.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!((first[0], first[1], &first[3..]), ("1", "11", &["large", "small"][..]), "{printed}");
    assert_eq!(printed.lines().count(), 5);
    assert!(printed.starts_with("40 labels, of which "), "{printed}");
    let all = cells(&text(&folder.bytes("all.csv")));
    assert_eq!(all[0], ["rank", "row", "label", "suggested", "probability"]);
    assert_eq!((all.len(), &all[1][..4]), (41, &["1", "11", "large", "small"].map(str::to_owned)[..]));
    folder.write("one.csv", FRUIT.replace("orange\n", "apple\n"));
    folder.fail_with(1, "doubt one.csv --label kind", &["one class"]);
    folder.fail_with(2, "doubt rows.csv", &["no `--label`"]);
}

/// A file that does not fit into memory is a pool of its unlabeled rows: the same rows, by the same numbers.
#[test]
fn a_file_larger_than_memory_is_streamed() {
    // Labeled rows at the end and in between, so that numbers of unlabeled rows are not their places.
    let rows = groups(60);
    let hidden: Vec<String> = rows
        .lines()
        .enumerate()
        .map(|(i, line)| match i == 0 || i > 52 || i % 9 == 4 {
            true => line.to_owned(),
            false => line.rsplit_once(',').unwrap().0.to_owned() + ",",
        })
        .collect();
    let folder = Folder::with("rows.csv", hidden.join("\n") + "\n");
    let call = "suggest rows.csv --label kind --drop id --count 5 --method bagging --out ask.csv";
    for options in ["", "--cost price", "--weight price", "--strategy margin"] {
        let whole = folder.run(&format!("{call} {options}"));
        let asked = text(&folder.bytes("ask.csv"));
        let parted = folder.run(&format!("{call} {options} --memory 2K"));
        let from_disk = text(&folder.bytes("ask.csv"));
        assert_eq!(asked.lines().count(), 6);
        for line in asked.lines().chain(from_disk.lines()).filter(|line| !line.starts_with("row,")) {
            let (row, cells) = line.split_once(',').unwrap();
            assert_eq!(cells, hidden[row.parse::<usize>().unwrap()], "{options}");
            assert!(cells.ends_with(','), "{options}: {cells} is labeled");
        }
        let head = |printed: &str| printed.lines().next().unwrap().to_owned();
        assert_eq!(head(&whole), head(&parted));
        assert!(folder.path().read_dir().unwrap().count() == 2, "a temporary file is left");
    }
    // Other formats, no label at all, and a model.
    folder.run("data split ionosphere train.libsvm test.libsvm --labeled 0.2");
    folder.run("suggest train.libsvm --count 3 --memory 20K --method bagging --out ask.csv");
    let asked = text(&folder.bytes("ask.csv"));
    assert!(asked.starts_with("row,") && asked.lines().count() == 4, "{asked}");
    let cold = folder.run("suggest rows.csv --drop id,kind --count 4 --memory 2K");
    assert!(cold.starts_with("0 labeled rows, 60 unlabeled rows") && cold.lines().count() == 6, "{cold}");
    folder.run("fit rows.csv --label kind --drop id,price --method bagging --folds 0 --out model");
    let asked = folder.run("suggest rows.csv --label kind --model model --count 3 --memory 2K");
    assert_eq!(asked.lines().count(), 5, "{asked}");
    // Errors name a row by its number in the file.
    let huge = hidden.join("\n").replace("\"no, 031\",6.6", "\"no, 031\",1e308");
    assert_ne!(huge, hidden.join("\n"));
    folder.write("huge.csv", huge);
    for memory in ["", "--memory 2K"] {
        let call = format!("suggest huge.csv --label kind --model model {memory}");
        folder.fail_with(1, &call, &["huge.csv, row 32, column `size`"]);
    }
}

#[test]
fn weights_may_be_none_but_not_negative() {
    let folder = Folder::with("rows.csv", groups(12));
    folder.write("bad.csv", groups(12).replace(",3,\n", ",-3,\n"));
    let call = "--label kind --drop id --method bagging --weight price";
    folder.fail_with(1, &format!("suggest bad.csv {call}"), &["`price`", "found -3", "0 or a positive number"]);
    folder.write("none.csv", groups(12).replace(",3,\n", ",0,\n"));
    folder.run(&format!("suggest none.csv {call}"));
    // Only the default strategy goes by weights, and votes of one member are no vote.
    folder.write("some.csv", groups(12));
    let margin = format!("suggest some.csv {call} --strategy");
    let told = folder.told(&format!("{margin} margin"));
    assert!(told.contains("warning: strategy `margin` does not weigh rows"), "{told}");
    folder.run("fit some.csv --label kind --drop id --method bagging --members 1 --out one.safetensors");
    let one = "suggest some.csv --label kind --drop id --model one.safetensors --strategy committee";
    folder.fail_with(2, one, &["`strategy` is `committee` and the model has 1 member"]);
    folder.fail_with(2, &format!("suggest - {call}"), &["`--weight`"]);
}

#[test]
fn a_forecast_has_intervals_or_a_reason_for_none() {
    let folder = Folder::with("rows.csv", groups(40));
    let call = "forecast rows.csv --label kind --drop id --method bagging --repetitions 2";
    let printed = folder.run(call);
    assert!(printed.starts_with("40 labels, method bagging; accuracy with 90 % intervals\n"), "{printed}");
    let rows: Vec<Vec<&str>> = printed.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let more: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(more, ["0", "10", "50", "100"], "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let json: serde_json::Value = serde_json::from_str(&folder.run(&format!("{call} --json --more 7"))).unwrap();
    let expected = &json["expected"][0];
    assert_eq!((&json["labels"], &expected["more"]), (&40.into(), &7.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&expected["interval"][0]) <= number(&expected["accuracy"]), "{json}");
    assert_eq!(json["curve"].as_array().unwrap().len(), 4);
    folder.write("few.csv", groups(8));
    folder.fail_with(1, "forecast few.csv --label kind --drop id", &["8 labels", "expected 10 labels"]);
    folder.fail_with(2, &format!("{call} --more 0"), &["`more` is 0"]);
    folder.fail_with(2, "forecast rows.csv --label kind --repetitions 0", &["`repetitions` is 0"]);
    folder.fail_with(2, "forecast rows.csv", &["no `--label`"]);
}

#[test]
fn a_model_tells_what_became_of_its_rows() {
    let folder = Folder::with("rows.csv", groups(12));
    folder.run("fit rows.csv --label kind --drop id,price --method co-training --folds 0 --keep-rows --out model");
    let printed = folder.run("inspect model --rows --count 14");
    assert!(printed.starts_with("60 training rows: 12 with a label, "), "{printed}");
    assert!(printed.contains("labeled in round 1"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let row = |number: usize| -> Vec<String> {
        let line = printed.lines().find(|line| line.split_whitespace().next() == Some(&number.to_string())).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row(1), ["1", "small", "1.000", "given", "-"]);
    assert_eq!((row(14)[1].as_str(), row(14)[3].as_str()), ("large", "round"), "{printed}");
    assert!(printed.ends_with("and 46 more: `--count`, `--out` or `--json` shows them\n"), "{printed}");
    folder.run("inspect model --rows --out became.csv");
    let became = cells(&text(&folder.bytes("became.csv")));
    assert_eq!(became[0], ["row", "class", "p(large)", "p(small)", "round", "by"]);
    assert_eq!((became.len(), &became[1][..]), (61, &["1", "small", "0", "1", "0", ""].map(str::to_owned)[..]));
    assert_eq!(folder.run("inspect model --rows --out -"), text(&folder.bytes("became.csv")));
    let json: serde_json::Value = serde_json::from_str(&folder.run("inspect model --rows --json")).unwrap();
    let rounds: Vec<String> = json["round"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(rounds, became[1..].iter().map(|row| row[4].clone()).collect::<Vec<_>>());
    assert_eq!(json["by"][13], serde_json::json!([became[14][5].parse::<usize>().unwrap()]));
    assert!(folder.run("inspect model").contains("what became of 60 training rows: `--rows`"));
    // The classes are those of `predict` where no label was given.
    let predicted = cells(&folder.run("predict model rows.csv"));
    assert!((13..61).all(|row| became[row][1] == predicted[row][0]));
}

#[test]
fn what_is_not_kept_of_rows_is_said() {
    let folder = Folder::with("rows.csv", groups(12));
    let call = "fit rows.csv --label kind --drop id,price --folds 0 --out model --method udeed";
    assert!(folder.told(&format!("{call} --keep-rows=59")).contains("they are more than `--keep-rows=59`"));
    folder.fail_with(1, "inspect model --rows", &["model: found no training rows in the model", "`--keep-rows`"]);
    assert!(!folder.run("inspect model").contains("what became of"));
    assert!(!folder.told(call).contains("does not keep"), "nobody asked for it");
    folder.run(&format!("{call} --keep-rows"));
    assert!(folder.run("inspect model").contains("what became of 60 training rows"));
    folder.write("more.csv", groups(0));
    let told = folder.told(&format!("{call} --keep-rows --unlabeled more.csv --memory 1K"));
    assert!(told.contains("rows outside of memory would have to be read once more"), "{told}");
    folder.fail_with(1, "inspect model --rows", &["no training rows"]);
    assert!(folder.told(call).lines().all(|line| !line.contains("keep")));
    folder.fail_with(2, "inspect model --out rows.txt", &["--rows"]);
}
