"use strict";
// Buttons that copy a table: the texts stand in their attributes, and reach the clipboard as they are.
for (const line of document.querySelectorAll(".copies")) {
  const said = line.querySelector("output");
  line.hidden = false;
  for (const button of line.querySelectorAll("button"))
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.text);
        said.value = `${button.textContent} copied`;
      } catch {
        said.value = "this browser lets no page copy";
      }
    });
}
