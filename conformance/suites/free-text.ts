/** The classifier on prose as people write it: what it finds in texts to make rules with, and in texts that nobody looked at. */
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import {
  countsAcross,
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  policyOf,
  readTogether,
  redact,
  tierRank,
} from "@seneschal/governance";
import { generate, type LabelledText, randomFrom } from "../free-text/generate.ts";
import { HELD_OUT_SCRIPT_TEMPLATES, HELD_OUT_SCRIPT_VALUES } from "../free-text/held-out-scripts.ts";
import { HELD_OUT_TEMPLATES } from "../free-text/held-out-templates.ts";
import { HELD_OUT_VALUES } from "../free-text/held-out-values.ts";
import { SCRIPT_TEMPLATES, SCRIPT_VALUES } from "../free-text/scripts.ts";
import { TEMPLATES } from "../free-text/templates.ts";
import { VALUES } from "../free-text/values.ts";
import type { ConformanceSuite, SuiteResult } from "../suite.ts";
import { tally } from "../tally.ts";

const SEEN = () => generate(TEMPLATES, VALUES, 1, 6);
const HELD_OUT = () => generate(HELD_OUT_TEMPLATES, HELD_OUT_VALUES, 20_261_123, 12);

const SCRIPTS_SEEN = () => generate(SCRIPT_TEMPLATES, SCRIPT_VALUES, 2, 12);
const SCRIPTS_HELD_OUT = () => generate(HELD_OUT_SCRIPT_TEMPLATES, HELD_OUT_SCRIPT_VALUES, 20_261_125, 12);

/** Entities that are judged by place; findings of others (dates, web addresses, the words of a category) are neither right nor wrong. */
const PLACED: Readonly<Record<string, string>> = {
  PERSON: "PERSON",
  EMAIL_ADDRESS: "EMAIL_ADDRESS",
  PHONE_NUMBER: "PHONE_NUMBER",
  PH_MOBILE_NUMBER: "PHONE_NUMBER",
  TR_PHONE_NUMBER: "PHONE_NUMBER",
  DATE_OF_BIRTH: "DATE_OF_BIRTH",
  STREET_ADDRESS: "STREET_ADDRESS",
  IBAN_CODE: "IBAN_CODE",
  CREDIT_CARD: "CREDIT_CARD",
  IP_ADDRESS: "IP_ADDRESS",
  GEO_LOCATION: "GEO_LOCATION",
  PASSWORD: "SECRET",
  API_KEY: "SECRET",
  VENDOR_TOKEN: "SECRET",
  PRIVATE_KEY: "SECRET",
  JWT: "SECRET",
  NATIONAL_ID: "NATIONAL_ID",
  IN_AADHAAR: "NATIONAL_ID",
};
/** Told apart from the sum: a place or a company alone identifies nobody. */
const ASIDE = new Set(["LOCATION", "ORGANIZATION"]);
const CATEGORY_ENTITY: Readonly<Record<string, string>> = {
  HEALTH: "HEALTH_DATA",
  SALARY: "SALARY",
  RELIGION: "RELIGION",
  UNION: "UNION_MEMBERSHIP",
  ORIENTATION: "SEXUAL_ORIENTATION",
  POLITICS: "POLITICAL_OPINION",
  BIOMETRIC: "BIOMETRIC_DATA",
  ETHNICITY: "ETHNICITY",
  GENETIC: "GENETIC_DATA",
};
const SPECIAL = Object.keys(CATEGORY_ENTITY).filter((tag) => tag !== "SALARY");

interface Counts {
  tp: number;
  fp: number;
  fn: number;
}

interface Judged {
  readonly tiers: SuiteResult;
  readonly entities: SuiteResult;
  readonly categories: SuiteResult;
}

/** Judges each text once. `tell` keeps what went wrong: never of the held-out part. */
async function judge(texts: readonly LabelledText[], tell: boolean): Promise<Judged> {
  const classifier = createClassifier({ sql: await openSqlParser() });
  const { policy } = classifier;
  const said = (line: string) => (tell ? line : "withheld");
  const tiers = tally();
  const found = new Map<string, Counts>();
  const spoken = new Map<string, Counts>();
  const sources = new Map<string, { right: number; of: number }>();
  const of = (map: Map<string, Counts>, key: string): Counts => {
    const known = map.get(key) ?? { tp: 0, fp: 0, fn: 0 };
    map.set(key, known);
    return known;
  };
  const wrong: string[] = [];
  for (const { text, source, language, labels, categories } of texts) {
    const got = classifier.classify(text);
    let want = 0;
    for (const { entity } of labels) {
      want = Math.max(want, tierRank(policy, policyOf(policy, entity === "SECRET" ? "API_KEY" : entity).tier));
    }
    for (const category of categories) {
      want = Math.max(want, tierRank(policy, policyOf(policy, CATEGORY_ENTITY[category] ?? "").tier));
    }
    const is = tierRank(policy, got.tier);
    const right = want < 2 ? is < 2 : is === want;
    tiers.judge(right, said(`${policy.tiers[want]} read as ${got.tier}: ${JSON.stringify(text)} (${got.reasoning})`));
    for (const key of [`source_${source}`, `language_${language}`]) {
      const counted = sources.get(key) ?? { right: 0, of: 0 };
      counted.of++;
      if (right) counted.right++;
      sources.set(key, counted);
    }
    const findings = got.findings.filter((f) => f.path === undefined && f.column === undefined);
    for (const label of labels) {
      const hit = findings.some(
        (f) => (PLACED[f.entity] ?? f.entity) === label.entity && f.start < label.end && f.end > label.start,
      );
      if (hit) of(found, label.entity).tp++;
      else {
        of(found, label.entity).fn++;
        wrong.push(said(`missed ${label.entity} ${text.slice(label.start, label.end)}: ${JSON.stringify(text)}`));
      }
    }
    for (const f of findings) {
      const entity = PLACED[f.entity] ?? (ASIDE.has(f.entity) ? f.entity : undefined);
      // The town of an address is a place, though its writer labelled the whole address.
      const inside = labels.some((l) => (l.entity === entity || ASIDE.has(f.entity)) && l.start < f.end && l.end > f.start);
      if (entity === undefined || inside) continue;
      of(found, entity).fp++;
      wrong.push(said(`false ${f.entity} ${text.slice(f.start, f.end)} (${f.pattern}): ${JSON.stringify(text)}`));
    }
    for (const category of Object.keys(CATEGORY_ENTITY)) {
      const is = got.tags.includes(category);
      const should = (categories as readonly string[]).includes(category);
      if (is && should) of(spoken, category).tp++;
      else if (is !== should) {
        if (should) of(spoken, category).fn++;
        else of(spoken, category).fp++;
        wrong.push(said(`${should ? "missed" : "false"} ${category}: ${JSON.stringify(text)}`));
      }
    }
  }
  const recall = ({ tp, fn }: Counts) => (tp + fn === 0 ? 1 : tp / (tp + fn));
  const precision = ({ tp, fp }: Counts) => (tp + fp === 0 ? 1 : tp / (tp + fp));
  const sum = (map: Map<string, Counts>, keys: (key: string) => boolean): Counts => {
    const total = { tp: 0, fp: 0, fn: 0 };
    for (const [key, { tp, fp, fn }] of map) {
      if (!keys(key)) continue;
      total.tp += tp;
      total.fp += fp;
      total.fn += fn;
    }
    return total;
  };
  const figures = (map: Map<string, Counts>) =>
    Object.fromEntries(
      [...map].sort().flatMap(([key, c]) => [
        [`${key}_recall`, recall(c)],
        [`${key}_precision`, precision(c)],
      ]),
    );
  const entities = sum(found, (entity) => !ASIDE.has(entity));
  const special = sum(spoken, (category) => SPECIAL.includes(category));
  return {
    tiers: tiers.result(Object.fromEntries([...sources].sort().map(([key, { right, of }]) => [key, right / of]))),
    entities: {
      passed: entities.tp,
      failed: entities.fn,
      skipped: 0,
      failures: tell ? wrong.filter((line) => !/^(?:missed|false) (?:LOCATION|ORGANIZATION)/.test(line)).slice(0, 200) : [],
      figures: { recall: recall(entities), precision: precision(entities), ...figures(found) },
    },
    categories: {
      passed: special.tp,
      failed: special.fn,
      skipped: 0,
      failures: [],
      figures: { recall: recall(special), precision: precision(special), ...figures(spoken) },
    },
  };
}

function suitesOf(
  part: string,
  texts: () => readonly LabelledText[],
  tell: boolean,
  floors: readonly number[],
): ConformanceSuite[] {
  let judged: Promise<Judged> | undefined;
  const all = () => {
    judged ??= judge(texts(), tell);
    return judged;
  };
  const share = async (figure: string): Promise<SuiteResult> => {
    const value = (await all()).entities.figures?.[figure] ?? 0;
    return { passed: Math.round(value * 10_000), failed: Math.round((1 - value) * 10_000), skipped: 0, failures: [] };
  };
  const [tier = 0, recall = 0, precision = 0, special = 0, person = 0] = floors;
  return [
    { name: `classification/${part}-tier`, floor: tier, run: async () => (await all()).tiers },
    { name: `classification/${part}-entities`, floor: recall, run: async () => (await all()).entities },
    { name: `classification/${part}-precision`, floor: precision, run: () => share("precision") },
    { name: `classification/${part}-persons`, floor: person, run: () => share("PERSON_recall") },
    { name: `classification/${part}-special-categories`, floor: special, run: async () => (await all()).categories },
  ];
}

/** Ordinary talks with a model, of messages that hold nothing: how many of them have something hidden over the ends of their messages. */
function harmlessTalks(): SuiteResult {
  const judged = tally();
  const random = randomFrom(29);
  const texts = generate(TEMPLATES, VALUES, 7, 12)
    .filter(({ labels, categories }) => labels.length === 0 && categories.length === 0)
    .map(({ text }) => text);
  for (let i = 0; i < TALKS; i++) {
    const talk = Array.from({ length: 10 + Math.floor(random() * 30) }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      text: texts[Math.floor(random() * texts.length)] ?? "",
    }));
    const told = readTogether(talk).flatMap((stretches) =>
      ["", "\n"].flatMap((joint) => {
        const parts = stretches.flatMap(({ place, start, end }, at) => [
          ...(at === 0 ? [] : [joint]),
          talk[place]?.text.slice(start, end) ?? "",
        ]);
        const { redactions } = redact(parts.join(""), {
          policy: DEFAULT_TIER_POLICY,
          recognisers: DEFAULT_RECOGNISERS,
          rules: [],
        });
        return redactions.flatMap(({ entity, start, end }) => (countsAcross(parts, start, end) ? [entity] : []));
      }),
    );
    judged.judge(told.length === 0, `talk ${i}: ${[...new Set(told)].join(", ")}`);
  }
  return judged.result({});
}
const TALKS = 300;

export const suites: readonly ConformanceSuite[] = [
  ...suitesOf("prose-seen", SEEN, true, [0.97, 0.96, 0.97, 0.95, 0.95]),
  ...suitesOf("scripts-seen", SCRIPTS_SEEN, true, [0.97, 0.96, 0.97, 0.95, 0.95]),
  ...suitesOf("scripts-held-out", SCRIPTS_HELD_OUT, false, [0.95, 0.9, 0.95, 0.9, 0.9]),
  ...suitesOf("prose-held-out", HELD_OUT, false, [0.95, 0.85, 0.93, 0.85, 0.75]),
  { name: "classification/talks-harmless", floor: 0.97, run: async () => harmlessTalks() },
];
