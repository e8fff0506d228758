import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buildFolder, contractFolders } from "../../src/contracts/build.ts";

test.each(contractFolders.map((folder) => [folder]))(
  "a rebuild gives the committed artifacts",
  async (folder) => {
    const built = await buildFolder(folder);
    const committed = (await readdir(join(folder, "artifacts"))).sort();
    expect(built.map(({ contractName }) => `${contractName}.json`).sort()).toEqual(committed);
    for (const artifact of built) {
      const file = join(folder, "artifacts", `${artifact.contractName}.json`);
      expect(await Bun.file(file).json()).toEqual(artifact);
    }
  },
  60_000,
);

test.each(contractFolders.map((folder) => [folder]))(
  "the typed ABIs are those of the artifacts",
  async (folder) => {
    for (const file of await readdir(join(folder, "artifacts"))) {
      const { abi, contractName } = await Bun.file(join(folder, "artifacts", file)).json();
      const modules = await readdir(join(folder, "abi"));
      const module = modules.find((name) => same(name, `${contractName}.ts`));
      const exported = Object.values(await import(join(folder, "abi", `${module}`)));
      expect(exported).toEqual([abi]);
    }
  },
);

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
