/**
 * `npm run fuzz [-- --only NAME --seconds N --seed N]`: mutates each target's corpus, keeping what runs blocks of our packages that nothing ran
 * before, until the time is over. An input that breaks a law, throws what is no code of ours or takes more than two seconds of the processor (or what its target says) is written to
 * `fuzz/findings/NAME/` and ends the run of its target; put it into `fuzz/corpus/NAME/` with the mend. An input that ends the process itself is what
 * `fuzz/findings/NAME/under-way` holds then.
 */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { corpusOf, targetNamed, targetNames } from "./corpus.ts";
import { Coverage } from "./coverage.ts";
import { mutate, numbersFrom } from "./mutate.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, seconds: { type: "string" }, seed: { type: "string" } },
});
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const names = targetNames().filter((name) => values.only === undefined || name === values.only);
if (names.length === 0 || !(seconds > 0)) {
  console.error(`targets: ${targetNames().join(", ")}; --seconds is a number`);
  process.exit(2);
}

const SLOW_MS = 2_000;
/** Inputs between two looks at the counters: reading them costs more than most inputs. */
const BATCH = 32;

function findingsOf(name: string): URL {
  const dir = new URL(`findings/${name}/`, import.meta.url);
  mkdirSync(dir, { recursive: true });
  return dir;
}

function keep(name: string, bytes: Uint8Array, why: string): void {
  const dir = findingsOf(name);
  const file = new URL(createHash("sha256").update(bytes).digest("hex").slice(0, 16), dir);
  writeFileSync(file, bytes);
  console.log(`${name}: ${why}\n  ${file.pathname}`);
}

async function fuzz(name: string): Promise<boolean> {
  const target = await targetNamed(name);
  const words = target.words.map((word) => new TextEncoder().encode(word));
  const seeds = corpusOf(name).map(({ bytes }) => bytes);
  const begun = seeds.length;
  const below = numbersFrom(seed);
  /** Undefined where all is well. */
  const underWay = new URL("under-way", findingsOf(name));
  const tried = async (bytes: Uint8Array): Promise<string | undefined> => {
    writeFileSync(underWay, bytes);
    const started = process.cpuUsage();
    try {
      await target.run(bytes);
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    // processor time: the machine may have had other work
    const { user, system } = process.cpuUsage(started);
    const took = Math.round((user + system) / 1000);
    return took > (target.slowMs ?? SLOW_MS) ? `took ${took} ms` : undefined;
  };
  for (const bytes of seeds) {
    const why = await tried(bytes);
    if (why === undefined) continue;
    keep(name, bytes, `an input of the corpus: ${why}`);
    return false;
  }
  const coverage = new Coverage();
  for (const bytes of seeds) await tried(bytes);
  coverage.news();
  let runs = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const batch = Array.from({ length: BATCH }, () => mutate(seeds, words, below));
    for (const bytes of batch) {
      const why = await tried(bytes);
      runs++;
      // compiling and collecting garbage are no fault of the input: slow twice is slow
      if (why === undefined || (why.startsWith("took") && (await tried(bytes)) === undefined)) continue;
      keep(name, bytes, `seed ${seed}: ${why}`);
      coverage.stop();
      return false;
    }
    if (coverage.news() > 0) seeds.push(...batch);
    // the newest lead further; what the corpus began with stays
    if (seeds.length > 4_096) seeds.splice(begun, 2_048);
  }
  console.log(`${name}: ${runs} inputs in ${seconds} s, ${coverage.blocks} blocks run, seed ${seed}: nothing found`);
  coverage.stop();
  return true;
}

for (const name of names) {
  const close = await (await targetNamed(name)).open?.();
  if (!(await fuzz(name))) process.exitCode = 1;
  rmSync(new URL("under-way", findingsOf(name)));
  close?.();
}
