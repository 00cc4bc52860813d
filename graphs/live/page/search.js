// One field that finds in all lists at once. `/` leads to it from everywhere, Escape empties it.

export class Search {
  /** `changed` is told of each text that is looked for, in small letters. */
  constructor(field, changed) {
    this.text = "";
    const look = () => {
      this.text = field.value.trim().toLowerCase();
      changed(this.text);
    };
    field.addEventListener("input", look);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && field.value) {
        field.value = "";
        look();
      }
    });
    document.addEventListener("keydown", (event) => {
      const writes = event.target.closest("input, textarea, select");
      if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.focus();
      field.select();
    });
  }

  /** Whether one of these texts has what is looked for. */
  finds(...texts) {
    return !this.text || texts.some((text) => text.toLowerCase().includes(this.text));
  }
}
