/** What is installed with the command is what was tested. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sbom } from "../sbom.ts";
import { type Lock, shrinkwrapOf } from "../shrinkwrap.ts";
import { ROOT } from "./fixture-tree.ts";

const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
type Entry = Lock["packages"][string] & { readonly integrity?: string; readonly license?: string; readonly dev?: boolean };
const lock = json("package-lock.json") as { readonly packages: Readonly<Record<string, Entry>> };
const made = shrinkwrapOf(lock, "packages/cli").packages as Readonly<Record<string, Entry>>;
const nameOf = (place: string): string => place.split("node_modules/").at(-1) ?? "";

/** The entry that a package at `at` gets when it asks for `name`. */
function found(packages: Readonly<Record<string, Entry>>, at: string, name: string): Entry | undefined {
  const folders = at.split("/node_modules/");
  for (let depth = folders.length; depth >= 0; depth--) {
    const place = [...folders.slice(0, depth).filter((folder) => folder !== ""), name].join("/node_modules/");
    const entry = packages[place] ?? packages[`node_modules/${place}`];
    if (entry !== undefined) return entry.link === true ? packages[entry.resolved ?? ""] : entry;
  }
  return undefined;
}

test("every package has the version and the checksum that are locked here, and none is for development alone", () => {
  const locked = new Map<string, Entry[]>();
  for (const [place, entry] of Object.entries(lock.packages)) {
    const name = place.startsWith("packages/") && !place.includes("node_modules/") ? (entry.name ?? "") : nameOf(place);
    locked.set(name, [...(locked.get(name) ?? []), entry]);
  }
  for (const [place, { version, integrity }] of Object.entries(made)) {
    const name = place === "" ? "@seneschal/cli" : nameOf(place);
    const here = locked.get(name)?.filter((entry) => entry.version === version && entry.integrity === integrity) ?? [];
    expect(here.length, place).toBeGreaterThan(0);
    expect(
      here.every(({ dev }) => dev === true),
      place,
    ).toBe(false);
    if (!name.startsWith("@seneschal/")) expect(integrity, place).toMatch(/^sha512-/);
  }
  expect(Object.keys(made).length).toBeGreaterThan(100);
});

test("every package finds what it depends on, in the version that it has here", () => {
  for (const [place, { dependencies = {} }] of Object.entries(made)) {
    if (place.startsWith("node_modules/@seneschal/") || place === "") continue;
    for (const name of Object.keys(dependencies)) {
      const version = found(made, place, name)?.version;
      expect(version, `${place} asks for ${name}`).toBeDefined();
      expect(version, `${place} asks for ${name}`).toBe(found(lock.packages, place, name)?.version);
    }
  }
  for (const [name, version] of Object.entries(json("package.json").overrides as Record<string, string>)) {
    const here = Object.entries(made).filter(([place]) => nameOf(place) === name);
    expect(here.map(([, entry]) => entry.version)).toEqual(here.map(() => version));
  }
});

/** Licences that what we ship may have beside Apache-2.0: permissive, with no duty beyond naming them. */
const LICENCES = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT", "Unlicense", "Python-2.0"];

test("everything that is shipped has a licence that may be shipped", () => {
  // Of a choice one is enough.
  const chosen = (licence = ""): boolean =>
    licence
      .replace(/[()]/g, "")
      .split(/ or /i)
      .some((one) => LICENCES.includes(one));
  const other = Object.entries(made).filter(([, { license }]) => !chosen(license));
  expect(other.map(([place, { license }]) => `${place}: ${license}`)).toEqual([]);
});

test("the bill of materials names each of them, once, with its version", () => {
  const bill = JSON.parse(sbom()) as {
    bomFormat: string;
    components: { group?: string; name: string; version: string; purl: string }[];
  };
  expect(bill.bomFormat).toBe("CycloneDX");
  const named = bill.components.map(({ purl }) => decodeURIComponent(purl.replace("pkg:npm/", "")));
  const shipped = Object.entries(made).filter(([place]) => place !== "");
  expect(new Set(named)).toEqual(new Set(shipped.map(([place, { version }]) => `${nameOf(place)}@${version}`)));
});
