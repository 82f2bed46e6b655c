import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface FixtureTree {
  readonly path: string;
  remove(): void;
}

/** A tree shaped like the repository, under its real rules, holding the given files only. */
export function fixtureTree(packages: readonly string[], files: Readonly<Record<string, string>>): FixtureTree {
  const path = mkdtempSync(join(tmpdir(), "seneschal-rings-"));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const rule of [".dependency-cruiser.cjs", "biome.json", "tsconfig.base.json"])
    copyFileSync(join(ROOT, rule), join(path, rule));
  for (const rule of ["tools/purity.grit", "tools/plain-objects.grit"]) write(rule, readFileSync(join(ROOT, rule), "utf8"));
  write(".gitignore", "node_modules\n");
  write("package.json", '{"name":"fixture","private":true,"type":"module"}');
  write("tsconfig.json", '{"extends":"./tsconfig.base.json","include":["packages/*/src"]}');
  for (const name of packages) {
    write(`packages/${name}/package.json`, readFileSync(join(ROOT, `packages/${name}/package.json`), "utf8"));
    write(`packages/${name}/tsconfig.json`, readFileSync(join(ROOT, `packages/${name}/tsconfig.json`), "utf8"));
    write(`packages/${name}/src/index.ts`, "export {};\n");
    mkdirSync(join(path, "node_modules/@seneschal"), { recursive: true });
    symlinkSync(join(path, "packages", name), join(path, "node_modules/@seneschal", name));
  }
  for (const npm of ["express", "zod"]) symlinkSync(join(ROOT, "node_modules", npm), join(path, "node_modules", npm));
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
