import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** Lower layers first; a folder may import its own layer's rules below and anything lower. */
const layers = [
  ["config", "lib"],
  ["chains", "db", "telemetry"],
  ["access", "upstream", "market", "contracts"],
  ["swap", "bridge", "rpc", "prices", "balance", "console", "docs", "front"],
  ["app.ts", "compose.ts", "reload.ts", "replicas.ts", "workers.ts"],
  ["main.ts", "cli.ts", "sandbox"],
];
const features = new Set(layers[3]);
/** Of a layer, which folders may see each other: what lower layers share, never two features. */
const siblings = new Set([
  "config→lib",
  "db→telemetry",
  "upstream→market",
  "access→upstream",
  "compose.ts→app.ts",
  "compose.ts→reload.ts",
  "compose.ts→replicas.ts",
]);
const elysiaFiles = /(^|\/)routes\.ts$|^app\.ts$|^access\/(gate|errorHandler)\.ts$/;
const environmentFiles = /^(config|sandbox)\//;

const source = join(import.meta.dir, "..", "src");

function* files(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else if (/\.tsx?$/.test(name)) yield relative(source, path);
  }
}

const layerOf = (path: string) =>
  layers.findIndex((layer) => layer.includes(path.split("/")[0] ?? ""));

function violations(path: string, text: string): string[] {
  const found: string[] = [];
  const imports = text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g);
  for (const [, target = ""] of imports) {
    if (target === "elysia" && !elysiaFiles.test(path)) found.push(`${path} imports elysia`);
    if (!target.startsWith(".")) continue;
    const to = normalize(join(dirname(path), target));
    const [fromFolder = "", toFolder = ""] = [path.split("/")[0], to.split("/")[0]];
    if (fromFolder === toFolder) continue;
    if (layerOf(path) === -1 || layerOf(to) === -1) found.push(`${path} → ${to}: unknown folder`);
    else if (layerOf(to) > layerOf(path)) found.push(`${path} → ${to}: imports upwards`);
    else if (layerOf(to) === layerOf(path) && !siblings.has(`${fromFolder}→${toFolder}`)) {
      found.push(`${path} → ${to}: siblings may not import each other`);
    }
    if (features.has(toFolder) && !to.endsWith("/index.ts")) {
      found.push(`${path} → ${to}: a feature is imported through its index.ts`);
    }
  }
  if (/process\.env|Bun\.env/.test(text) && !environmentFiles.test(path)) {
    found.push(`${path} reads the environment`);
  }
  return found;
}

describe("architecture", () => {
  test("imports point one way and only config reads the environment", () => {
    const found = [...files(source)].flatMap((path) =>
      violations(path, readFileSync(join(source, path), "utf8")),
    );
    expect(found).toEqual([]);
  });

  test("a wrong import is noticed", () => {
    expect(violations("lib/x.ts", 'import { a } from "../swap/index.ts";')).toHaveLength(1);
    expect(violations("swap/x.ts", 'import { a } from "../bridge/index.ts";')).toHaveLength(1);
    expect(violations("app.ts", 'import { a } from "./swap/service.ts";')).toHaveLength(1);
    expect(violations("swap/service.ts", 'import { Elysia } from "elysia";')).toHaveLength(1);
    expect(violations("swap/x.ts", "process.env.PORT")).toHaveLength(1);
    expect(violations("swap/x.ts", 'import { a } from "../lib/errors.ts";')).toEqual([]);
  });
});
