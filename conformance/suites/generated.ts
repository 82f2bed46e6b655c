/** The classifier on cases that no one has seen: values made anew (check digits by an independent library), in sentences, disguised, and numbers of things. */

import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { createClassifier, DEFAULT_RECOGNISERS, type Finding, recognise, tierRank } from "@seneschal/governance";
import { KINDS, type Random } from "../cases/generated-identifiers.ts";
import { ASKING, HARMLESS, HOLDING } from "../cases/held-out.ts";
import { ORDINARY } from "../cases/held-out-queries.ts";
import { THINGS } from "../cases/things.ts";
import type { ConformanceSuite } from "../suite.ts";
import { tally } from "../tally.ts";

const SENTENCES = [
  "{n}: {v}",
  "{n} {v}",
  "The {n} is {v}.",
  "Please check {n} {v}, thanks",
  "({n} {v})",
  "{n}={v};",
  "{n} - {v}",
  "My {n} changed to {v} last week",
  "{v} is the {n} on file",
  "new {n}\n{v}\n",
];

/** How a value is written so that a simple search misses it. */
const DISGUISES: readonly ((value: string) => string)[] = [
  (v) => v.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  ...[0x660, 0x966, 0x7c0, 0x1040, 0x1d7ce].map(
    (zero) => (v: string) => v.replace(/\d/g, (d) => String.fromCodePoint(zero + Number(d))),
  ),
  (v) => v.replace(/ /g, "\u00a0"),
  (v) => [...v].join("\u200b"),
  (v) => [...v].join("\u00ad"),
  (v) => v.replace(/-/g, "\u2013"),
  (v) => v.replace(/ /g, "  "),
  (v) => `**${v}**`,
  (v) => `<b>${v}</b>`,
  (v) => `\u2014${v}\u2014`,
];

function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const top = (found: readonly Finding[], start: number, end: number) =>
  found.filter((f) => f.start < end && f.end > start).sort((a, b) => b.score - a.score)[0];

/** That detector alone, the country given: the exact span. All detectors together, nothing given: the right type. */
const plain = (name: string, floor: number, pooled: boolean): ConformanceSuite => ({
  name,
  floor,
  async run() {
    const t = tally();
    const random = randomFrom(7);
    for (const kind of KINDS) {
      for (let i = 0; i < 40; i++) {
        const value = kind.make(random);
        const text = pick(random, SENTENCES)
          .replace("{n}", pick(random, kind.names))
          .replace("{v}", () => value);
        const start = text.lastIndexOf(value);
        const end = start + value.length;
        if (pooled) {
          const found = top(recognise(text, DEFAULT_RECOGNISERS), start, end)?.entity;
          t.judge(found === kind.entity, `${kind.entity} read as ${found}: ${text}`);
          continue;
        }
        const own = recognise(text, DEFAULT_RECOGNISERS, {
          entities: new Set([kind.entity]),
          ...(kind.country === undefined ? {} : { country: kind.country }),
        });
        t.judge(own.length === 1 && own[0]?.start === start && own[0].end === end, `${kind.entity}: ${text}`);
      }
    }
    return t.result();
  },
});

/** A word that does for many kinds of identifiers. */
function sharedName(entity: string): string {
  if (entity.includes("PASSPORT")) return "passport";
  if (/LICEN|FUEHR/.test(entity)) return "licence";
  if (/TAX|TFN|TIN|NIF|PAN|VAT/.test(entity)) return "tax number";
  if (/VEHICLE|KFZ/.test(entity)) return "plate";
  return /BANK|ABA/.test(entity) ? "account" : "id";
}

/**
 * Values that can be read in several ways: passed and failed are ten-thousandths of the expected calibration error over all told readings. `told` is how often the right
 * reading is among those told, `likeliest` how often it is the first.
 */
const odds: ConformanceSuite = {
  name: "classification/generated-odds",
  floor: 0.95,
  async run() {
    const random = randomFrom(303);
    const bins = Array.from({ length: 10 }, () => ({ n: 0, said: 0, right: 0 }));
    let [ambiguous, told, likeliest] = [0, 0, 0];
    for (const kind of KINDS) {
      for (let i = 0; i < 120; i++) {
        const value = kind.make(random);
        const how = random();
        const name = how < 0.35 || how >= 0.8 ? undefined : how < 0.55 ? pick(random, kind.names) : sharedName(kind.entity);
        const text = name === undefined ? value : `${name}: ${value}`;
        const found = recognise(text, DEFAULT_RECOGNISERS, how >= 0.8 && kind.country ? { country: kind.country } : {})[0];
        if (found?.probability === undefined || found.end - found.start !== value.length) continue;
        const readings = [{ entity: found.entity, probability: found.probability }, ...(found.alternatives ?? [])];
        ambiguous++;
        if (found.entity === kind.entity) likeliest++;
        if (readings.some(({ entity }) => entity === kind.entity)) told++;
        for (const { entity, probability } of readings) {
          const bin = bins[Math.min(9, Math.floor(probability * 10))];
          if (bin === undefined) continue;
          bin.n++;
          bin.said += probability;
          if (entity === kind.entity) bin.right++;
        }
      }
    }
    const all = bins.reduce((sum, { n }) => sum + n, 0);
    const ece = bins.reduce((sum, { said, right }) => sum + Math.abs(said - right), 0) / Math.max(1, all);
    return {
      passed: Math.round((1 - ece) * 10_000),
      failed: Math.round(ece * 10_000),
      skipped: 0,
      failures: bins.map(
        ({ n, said, right }, i) => `bin ${i}: n ${n}, said ${(said / n).toFixed(2)}, was ${(right / n).toFixed(2)}`,
      ),
      figures: { ece, ambiguous, told: told / ambiguous, likeliest: likeliest / ambiguous },
    };
  },
};

const disguised: ConformanceSuite = {
  name: "classification/generated-disguised",
  floor: 0.98,
  async run() {
    const t = tally();
    const random = randomFrom(11);
    for (const kind of KINDS) {
      for (const disguise of DISGUISES) {
        const value = disguise(kind.make(random));
        const text = `${pick(random, kind.names)} ${value} ok`;
        const start = text.indexOf(value);
        const found = recognise(text, DEFAULT_RECOGNISERS, kind.country === undefined ? {} : { country: kind.country });
        t.judge(
          found.some((f) => f.entity === kind.entity && f.start < start + value.length && f.end > start),
          `${kind.entity}: ${text}`,
        );
      }
    }
    return t.result();
  },
};

/** Texts that stay under the third tier. */
function harmlessTo(classifier: ReturnType<typeof createClassifier>, texts: readonly string[]) {
  const t = tally();
  for (const text of texts) {
    const { tier, reasoning } = classifier.classify(text);
    t.judge(tierRank(classifier.policy, tier) < 2, `${text} (${reasoning})`);
  }
  return t.result();
}

const things: ConformanceSuite = {
  name: "classification/numbers-of-things",
  floor: 0.98,
  async run() {
    return harmlessTo(createClassifier(), THINGS);
  },
};

/** What a text holds, with all recognisers on and no hint. */
const holding: ConformanceSuite = {
  name: "classification/held-out-holding",
  floor: 0.98,
  async run() {
    const t = tally();
    for (const [entities, text] of HOLDING) {
      const found = recognise(text, DEFAULT_RECOGNISERS);
      t.judge(
        found.some((f) => entities.split("|").includes(f.entity)),
        `${entities}: ${text} (${found.map((f) => f.entity)})`,
      );
    }
    return t.result();
  },
};

const harmless: ConformanceSuite = {
  name: "classification/held-out-harmless",
  floor: 0.99,
  async run() {
    return harmlessTo(createClassifier({ sql: await openSqlParser() }), HARMLESS);
  },
};

const ordinary: ConformanceSuite = {
  name: "classification/held-out-ordinary-queries",
  floor: 0.97,
  async run() {
    return harmlessTo(createClassifier({ sql: await openSqlParser() }), ORDINARY);
  },
};

const asking: ConformanceSuite = {
  name: "classification/held-out-queries",
  floor: 0.97,
  async run() {
    const t = tally();
    const classifier = createClassifier({ sql: await openSqlParser() });
    const rank = (tier: string) => tierRank(classifier.policy, tier);
    for (const want of ASKING) {
      const got = classifier.classify(want.text);
      const right =
        rank(got.tier) >= rank(want.atLeast ?? "PUBLIC") &&
        rank(got.tier) <= rank(want.atMost ?? "RESTRICTED") &&
        (want.tags ?? []).every((tag) => got.tags.includes(tag)) &&
        (want.operation === undefined || got.operation === want.operation);
      t.judge(right, `${want.text}: ${got.tier} ${got.operation} ${got.tags}`);
    }
    return t.result();
  },
};

export const suites: readonly ConformanceSuite[] = [
  plain("classification/generated-spans", 0.99, false),
  plain("classification/generated-pooled-type", 0.98, true),
  odds,
  disguised,
  things,
  holding,
  harmless,
  ordinary,
  asking,
];
