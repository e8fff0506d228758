/** The text of a form's control. */
export function textOf(form: FormData, name: string): string {
  return String(form.get(name) ?? "").trim();
}

/** A whole number, or null where nothing was entered. */
export function numberOrNull(form: FormData, name: string): number | null {
  const text = textOf(form, name);
  return text === "" ? null : Number(text);
}

/** A point in time entered in the reader's zone, ms since the epoch, or null. */
export function timeOrNull(form: FormData, name: string): number | null {
  const text = textOf(form, name);
  return text === "" ? null : new Date(text).getTime();
}

/** What was entered line by line, or with commas. */
export function lines(form: FormData, name: string): string[] {
  return textOf(form, name)
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
