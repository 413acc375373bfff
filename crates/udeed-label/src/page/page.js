"use strict";

// Asks the server how things are, shows it, and sends answers.
{
  const address = location.pathname;
  const token = address.split("/")[1];
  // A page that is loaded again, or in a second tab, is another window.
  const windowId = crypto.randomUUID();
  const drawProgress = progressDrawing();
  let state = null;
  let shown = null;
  let busy = false;
  let timer = 0;

  const say = (text) => { byId("said").textContent = text; };
  // Told once: text that is set again is read again by screen readers.
  const alert = (id, text) => {
    if (byId(id).textContent === text) return;
    byId(id).textContent = text;
    byId(id).hidden = !text;
  };
  // What is wrong as long as it is, and what was refused until something else is tried.
  const complain = (text) => alert("problem", text);
  const refuse = (text) => alert("refusal", text);
  const failed = (error) => (error instanceof TypeError ? complain(GONE) : refuse(error.message));

  const post = (path, body) => fetch(address + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Udeed-Token": token },
    body: JSON.stringify({ window: windowId, ...body }),
    keepalive: path === "leave",
  });

  const received = async (response) => {
    if (!response.ok) throw new Error((await response.text()).trim());
    show(await response.json());
  };

  // One change at a time: a key that is held down answers one row.
  const change = async (path, body) => {
    if (busy) return false;
    busy = true;
    refuse("");
    try {
      await received(await post(path, body));
      return true;
    } catch (error) {
      failed(error);
      return false;
    } finally {
      busy = false;
    }
  };

  // What changes nothing, as text; null where there is no answer.
  const ask = async (path) => {
    refuse("");
    try {
      const response = await fetch(address + path);
      const text = await response.text();
      if (!response.ok) throw new Error(text.trim());
      return text;
    } catch (error) {
      failed(error);
      return null;
    }
  };
  const drawRow = rowDrawing(address, ask);

  const GONE = "The server does not answer. What was answered is kept; run the command again to go on.";

  const poll = async () => {
    clearTimeout(timer);
    let delay = 2000;
    try {
      if (!busy) await received(await fetch(`${address}state?window=${windowId}`));
      if (state.learning) delay = 400;
    } catch (error) {
      complain(error instanceof TypeError ? GONE : error.message);
    }
    if (!state?.ending) timer = setTimeout(poll, delay);
  };

  const ORIGINS = {
    chosen: ["suggested", "Its label tells much about the rest."],
    random: ["random row", "Drawn at random, as every fifth: on such rows the accuracy is estimated."],
    searched: ["searched", "You looked for this row. It counts for the estimate once its turn as a random row has come."],
  };

  const why = ({ origin, reasons }) => {
    if (!reasons) return ORIGINS[origin][1];
    const [undecided, unlike, share] = reasons;
    return `Its label tells much about the rest: undecided ${undecided.toFixed(2)}, unlike labeled rows ${unlike.toFixed(2)}, ${(100 * share).toFixed(1)} % of what is unknown.`;
  };

  const showQuestion = (question) => {
    byId("answers").disabled = !question || !state.labeling;
    if (!question) {
      byId("row").textContent = "All rows are answered";
      byId("origin").hidden = true;
      byId("why").textContent = "Finish to save the model, or search for rows to correct.";
      drawRow(0, []);
      byId("all-cells").hidden = true;
      shown = null;
      return;
    }
    const key = `${question.row} ${question.origin} ${question.label}`;
    if (shown === key) return;
    shown = key;
    byId("row").textContent = `Row ${question.row + 1}`;
    byId("origin").hidden = false;
    byId("origin").textContent = ORIGINS[question.origin][0];
    byId("origin").className = `tag ${question.origin}`;
    byId("why").textContent = why(question) + (question.label === null ? "" : ` Its label is ${question.label}.`);
    drawRow(question.row, question.cells);
    byId("all-cells").hidden = question.more === 0;
    byId("all-cells").textContent = `Show ${counted(question.more, "more column")}`;
  };

  const showClasses = (classes, question) => {
    const box = byId("classes");
    const names = classes.map((own) => own.name).join("\u0000");
    if (box.dataset.names !== names) {
      box.dataset.names = names;
      box.replaceChildren(...classes.map((own, i) => {
        const button = element("button", { type: "button" }, `${own.shown} `);
        if (own.key) button.append(element("kbd", { textContent: own.key }));
        if (own.key) button.setAttribute("aria-keyshortcuts", own.key);
        button.addEventListener("click", () => answer("label", state.classes[i].name));
        return button;
      }));
    }
    [...box.children].forEach((button, i) => {
      const isOwn = question !== null && question.label === classes[i].shown;
      button.setAttribute("aria-pressed", isOwn);
    });
    byId("class-label").textContent = classes.length ? "New class" : "Name the first class";
  };

  const showEnding = ({ sentences, commands }) => {
    byId("desk").hidden = true;
    byId("look-on").hidden = true;
    byId("ending").hidden = false;
    byId("ending-title").textContent = "Labeling is finished";
    byId("sentences").replaceChildren(...sentences.map((text) => element("li", { textContent: text })));
    byId("commands").textContent = commands.join("\n");
    byId("go-on").hidden = commands.length === 0;
    byId("ending-title").focus();
    say("Labeling is finished.");
  };

  const show = (next) => {
    if (state?.ending) return;
    state = next;
    complain(state.problem ? `No new model: ${state.problem}` : "");
    drawProgress(state);
    if (state.ending) return showEnding(state.ending);
    byId("desk").hidden = false;
    byId("look-on").hidden = state.labeling;
    showQuestion(state.question);
    showClasses(state.classes, state.question);
    byId("undo").disabled = state.recent.length === 0;
    byId("finish").disabled = !state.labeling;
  };

  const next = () => {
    if (!state.question) return "All rows are answered.";
    return `Next is row ${state.question.row + 1}, ${ORIGINS[state.question.origin][0]}.`;
  };

  const answer = async (reply, label) => {
    if (!state?.question || !state.labeling) return false;
    const row = state.question.row;
    if (!await change("answer", { row, reply, label })) return false;
    // What was typed was meant for the row that is answered.
    byId("class-name").value = "";
    const [last] = state.recent;
    // A row that was only looked at is not among the last answers.
    say(`Row ${row + 1}: ${last?.row === row ? last.label : "unchanged"}. ${next()}`);
    return true;
  };

  const undo = async () => {
    if (await change("undo", {})) {
      say(`Taken back: row ${state.question.row + 1} is asked again.`);
      byId("row").focus();
    }
  };

  const search = async () => {
    const text = byId("wanted").value.trim();
    if (!text) return byId("found").replaceChildren();
    const told = await ask(`search?q=${encodeURIComponent(text)}`);
    if (told === null) return;
    const { found, more } = JSON.parse(told);
    const hit = ({ row, text: begun, label }) => {
      const words = `Row ${row + 1}${label === null ? "" : ` (${label})`}: ${begun}`;
      const button = element("button", { type: "button", dir: "auto", textContent: words });
      button.addEventListener("click", async () => {
        if (await change("show", { row })) {
          byId("found").replaceChildren();
          byId("row").focus();
          say(`Row ${row + 1} is shown.`);
        }
      });
      return element("li", {}, button);
    };
    const words = found.length === 0 ? "No row has this text." : `${counted(found.length, "row")}${more ? ", and more" : ""}`;
    byId("found").replaceChildren(element("p", { textContent: words }), element("ul", {}, ...found.map(hit)));
  };

  // A name that was refused is selected, so that the next one replaces it.
  const writeClass = () => {
    byId("class-name").focus();
    byId("class-name").select();
  };

  byId("new-class").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = byId("class-name").value.trim();
    // A name that is refused stays to be corrected.
    if (name && await answer("label", name)) byId("class-name").blur();
  });
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  byId("not-sure").addEventListener("click", () => answer("not sure"));
  byId("skip").addEventListener("click", () => answer("skip"));
  byId("undo").addEventListener("click", undo);
  byId("take").addEventListener("click", async () => {
    if (await change("take", {})) {
      // The button is gone, and the focus with it.
      byId("row").focus();
      say("This window labels now.");
    }
  });
  byId("finish").addEventListener("click", async () => {
    byId("finish").disabled = true;
    say("Saving the model.");
    await change("finish", {});
  });
  byId("all-cells").addEventListener("click", async () => {
    const { row } = state.question;
    const told = await ask(`row?row=${row}`);
    if (told === null || state.question?.row !== row) return;
    drawRow(row, JSON.parse(told).cells);
    byId("all-cells").hidden = true;
    byId("row").focus();
  });

  const isTyping = (target) => target.matches("input:not([type=checkbox]), textarea, audio");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
    const isPlain = !(event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing);
    if (!isPlain || isTyping(event.target) || !byId("keys").checked || byId("desk").hidden) return;
    const own = state.classes.find(({ key }) => key === event.key);
    const actions = { s: () => answer("skip"), n: () => answer("not sure"), u: undo,
      c: writeClass, "/": () => byId("wanted").focus() };
    const action = own ? () => answer("label", own.name) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  addEventListener("pagehide", () => { post("leave", {}); });
  addEventListener("pageshow", poll);
}
