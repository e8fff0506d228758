import { expect, test } from "bun:test";
import { join } from "node:path";

const TOKENS = join(import.meta.dir, "../../src/console/app/styles/tokens.css");

/** Contrast of body text, and of what only has to be told from its ground (WCAG 2.2 AA). */
const TEXT = 4.5;
const GRAPHICS = 3;

const texts: readonly [ink: string, ground: string][] = [
  ...["text", "muted", "accent", "ok", "warn", "bad"].map((ink): [string, string] => [
    ink,
    "surface",
  ]),
  ["text", "ground"],
  ["muted", "ground"],
  ["text", "raised"],
  ["muted", "raised"],
  ["accent", "accent-soft"],
  ["text", "accent-soft"],
  ["ok", "ok-soft"],
  ["warn", "warn-soft"],
  ["bad", "bad-soft"],
  ["on-accent", "accent"],
];
const graphics: readonly [ink: string, ground: string][] = [
  ["line-strong", "surface"],
  ...Array.from({ length: 9 }, (_, index): [string, string] => [`series-${index + 1}`, "surface"]),
];

const COLOURS = /--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g;
const css = await Bun.file(TOKENS).text();

for (const [index, theme] of ["light", "dark"].entries()) {
  test(`colours can be told apart in the ${theme} theme`, () => {
    const colours = new Map<string, string>();
    for (const [, name = "", ...values] of css.matchAll(COLOURS)) {
      colours.set(name, values[index] ?? "");
    }
    const weak = [
      ...texts.filter((pair) => contrast(colours, pair) < TEXT),
      ...graphics.filter((pair) => contrast(colours, pair) < GRAPHICS),
    ];
    expect(weak.map((pair) => `${pair.join(" on ")}: ${contrast(colours, pair)}`)).toEqual([]);
  });
}

/** Contrast ratio as WCAG 2.2 defines it. */
function contrast(colours: ReadonlyMap<string, string>, [ink, ground]: readonly [string, string]) {
  const [one, other] = [luminance(colours.get(ink)), luminance(colours.get(ground))];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

function luminance(colour = ""): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
