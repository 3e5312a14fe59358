// A click or tap on a picture shows it as large as it is, in a frame that scrolls.
(() => {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Picture; a click or Escape closes it");
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);

  const show = (picture) => {
    const copy = picture.cloneNode(true);
    copy.removeAttribute("tabindex");
    dialog.replaceChildren(copy);
    dialog.showModal();
  };
  for (const picture of document.querySelectorAll("article img")) {
    if (picture.closest("a")) continue;
    picture.tabIndex = 0;
    picture.setAttribute("role", "button");
    picture.classList.add("can-be-enlarged");
    picture.addEventListener("click", () => show(picture));
    picture.addEventListener("keydown", (event) => { if (event.key === "Enter") show(picture); });
  }
})();
