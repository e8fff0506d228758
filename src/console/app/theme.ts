import { useEffect, useState } from "preact/hooks";

/** What the page looks like; `system` follows the machine. */
export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "causeway-theme";
const CHANGED = "causeway-theme-changed";
const themes: readonly Theme[] = ["system", "light", "dark"];

function storedTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY);
  return themes.find((theme) => theme === stored) ?? "system";
}

/** Shows the page in the chosen theme. */
export function applyTheme(theme: Theme = storedTheme()): void {
  document.documentElement.dataset["theme"] = theme;
}

/** The chosen theme and the step to the next one. */
export function useTheme(): { theme: Theme; next: () => void } {
  const [theme, setTheme] = useState(storedTheme);
  const next = () => {
    const chosen = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
    localStorage.setItem(STORAGE_KEY, chosen);
    applyTheme(chosen);
    setTheme(chosen);
    dispatchEvent(new Event(CHANGED));
  };
  return { theme, next };
}

/** A number that differs after the page's colours changed. */
export function useColourChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const count = () => setChanges((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", count);
    addEventListener(CHANGED, count);
    return () => {
      system.removeEventListener("change", count);
      removeEventListener(CHANGED, count);
    };
  }, []);
  return changes;
}

/** The colour a custom property stands for now. @param name - such as `--accent` */
export function colourOf(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
