"use strict";

// Buttons that copy the text of another element. They are hidden until this runs, because they do nothing without it.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    // Selected in any case: where the clipboard is refused, a key is enough.
    getSelection().selectAllChildren(source);
    const copied = await navigator.clipboard?.writeText(source.textContent).then(() => true, () => false);
    button.textContent = copied ? "Copied" : "Selected";
  });
}
