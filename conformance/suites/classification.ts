/** The classifier against the cases of Presidio, its research sentences, DataHub's columns and validator.js. */
import {
  candidates,
  cardNetworks,
  classifyColumn,
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  isCardNumber,
  isIpv6,
  maxTier,
  policyOf,
  type Recogniser,
  recognise,
  tierRank,
} from "@seneschal/governance";
import { exceptionFor } from "../cases/label-exceptions.ts";
import { casesIn, hasRows, rowsHave } from "../cases-in.ts";
import type { ConformanceSuite, SuiteResult, SuitesOf } from "../suite.ts";
import { tally } from "../tally.ts";

interface Span {
  readonly start: number;
  readonly end: number;
  readonly presidio_score?: number;
}
interface Case {
  readonly entity: string;
  readonly country: string | null;
  readonly text: string;
  readonly expected: readonly Span[];
  readonly positive: boolean;
  readonly needs?: string;
  readonly config?: { readonly strict_checksum?: boolean; readonly leniency?: number; readonly regions?: string };
}
interface CaseFile {
  readonly cases: readonly Case[];
  readonly validator_cases: readonly {
    readonly entity: string;
    readonly value: string;
    readonly result: boolean | null;
    readonly config?: { readonly strict_checksum?: boolean };
  }[];
  readonly context_cases: readonly { readonly entity: string; readonly text: string }[];
}
interface Sentence {
  readonly full_text: string;
  readonly spans: readonly {
    readonly entity_type: string;
    readonly entity_value: string;
    readonly start_position: number;
    readonly end_position: number;
  }[];
}

/** All files with cases of recognisers as one. */
function cases(dir: string): CaseFile {
  const files = casesIn<Partial<CaseFile>>(
    dir,
    "classification",
    (x) =>
      hasRows(x, "cases", "entity", "text", "expected") ||
      hasRows(x, "validator_cases", "entity", "value") ||
      hasRows(x, "context_cases", "entity", "text"),
  );
  return {
    cases: files.flatMap(({ content }) => content.cases ?? []),
    validator_cases: files.flatMap(({ content }) => content.validator_cases ?? []),
    context_cases: files.flatMap(({ content }) => content.context_cases ?? []),
  };
}
const sentenceFiles = (dir: string) =>
  casesIn<readonly Sentence[]>(dir, "classification", (x) => rowsHave(x, "full_text", "spans"));
const stringGroups = (dir: string) =>
  casesIn<{ groups: readonly StringGroup[] }>(dir, "classification", (x) => hasRows(x, "groups", "validator", "valid")).flatMap(
    ({ content }) => content.groups,
  );
const f1 = (tp: number, fp: number, fn: number) => (tp === 0 ? 0 : (2 * tp) / (2 * tp + fp + fn));
const overlaps = (a: { start: number; end: number }, b: { start: number; end: number }) => a.start < b.end && a.end > b.start;
/** The entity's own country where the case names none: two of the peer's telephone recognisers are made for one. */
const countryOf = (c: { readonly entity: string; readonly country: string | null }) =>
  c.country ?? DEFAULT_RECOGNISERS.find((r) => r.entity === c.entity)?.country;
/** Leniency is a setting of the peer's telephone library that the rules here do not have. */
const applies = (c: Case) =>
  c.needs === undefined && (c.config?.leniency === undefined || c.config.leniency === 1 || c.config.leniency === 2);
const hinted = (country: string | undefined) => (country === undefined ? {} : { country });

/** Exact spans per entity, that entity's detector alone, the country given. Passed: entities at F1 >= 0.90. */
const spans: ConformanceSuite = {
  name: "classification/recogniser-spans",
  floor: 1,
  async run(dir) {
    const per = new Map<string, { tp: number; fp: number; fn: number }>();
    const t = tally();
    let falseHits = 0;
    let negatives = 0;
    for (const c of cases(dir).cases) {
      if (!applies(c)) {
        t.skip();
        continue;
      }
      const got = recognise(c.text, DEFAULT_RECOGNISERS, {
        entities: new Set([c.entity]),
        minScore: 0,
        strict: c.config?.strict_checksum === true,
        ...hinted(countryOf(c)),
      });
      const have = new Set(got.map((f) => `${f.start}-${f.end}`));
      const want = new Set(c.expected.map((s) => `${s.start}-${s.end}`));
      const sums = per.get(c.entity) ?? { tp: 0, fp: 0, fn: 0 };
      per.set(c.entity, sums);
      for (const s of want) have.has(s) ? sums.tp++ : sums.fn++;
      for (const s of have) if (!want.has(s)) sums.fp++;
      if (!c.positive) {
        negatives++;
        if (have.size > 0) falseHits++;
      }
    }
    let [tp, fp, fn] = [0, 0, 0];
    const worst: number[] = [];
    for (const [entity, s] of per) {
      tp += s.tp;
      fp += s.fp;
      fn += s.fn;
      const score = s.tp + s.fn + s.fp === 0 ? 1 : f1(s.tp, s.fp, s.fn);
      worst.push(score);
      t.judge(score >= 0.9, `${entity}: F1 ${score.toFixed(3)} (${JSON.stringify(s)})`);
    }
    return t.result({
      micro_f1: f1(tp, fp, fn),
      worst_entity_f1: Math.min(1, ...worst),
      false_hits_on_negatives: negatives === 0 ? 0 : falseHits / negatives,
    });
  },
};

const validators: ConformanceSuite = {
  name: "classification/validator-cases",
  floor: 0.99,
  async run(dir) {
    const t = tally();
    for (const c of cases(dir).validator_cases) {
      const recogniser = DEFAULT_RECOGNISERS.find((r) => r.entity === c.entity);
      const verdict = recogniser?.validate?.(c.value);
      const got = verdict ?? (c.config?.strict_checksum === true ? false : null);
      t.judge(got === c.result, `${c.entity} ${JSON.stringify(c.value)}: wanted ${c.result}, got ${got}`);
    }
    return t.result();
  },
};

/** All recognisers at once: the top finding over a labelled span must have its type. */
function pooled(name: string, floor: number, withHint: boolean): ConformanceSuite {
  return {
    name,
    floor,
    async run(dir) {
      const t = tally();
      const strong = tally();
      for (const c of cases(dir).cases) {
        if (!c.positive || !applies(c)) continue;
        const found = recognise(c.text, DEFAULT_RECOGNISERS, { minScore: 0, ...(withHint ? hinted(countryOf(c)) : {}) });
        for (const span of c.expected) {
          const top = found.filter((f) => overlaps(f, span)).sort((a, b) => b.score - a.score)[0];
          t.judge(
            top?.entity === c.entity,
            `${c.entity} read as ${top?.entity}: ${JSON.stringify(c.text.slice(span.start, span.end))}`,
          );
          if ((span.presidio_score ?? 0) >= 0.3) strong.judge(top?.entity === c.entity, "");
        }
      }
      return t.result({ without_weak_spans: strong.rate() });
    },
  };
}

const context: ConformanceSuite = {
  name: "classification/context-raises-score",
  floor: 0.8,
  async run(dir) {
    const t = tally();
    for (const c of cases(dir).context_cases) {
      const entity = c.entity === "FIN" ? "SG_NRIC_FIN" : c.entity;
      const own = DEFAULT_RECOGNISERS.filter((r) => r.entity === entity);
      const deaf: readonly Recogniser[] = own.map((r) => ({ ...r, context: [] }));
      const best = (list: readonly Recogniser[]) => Math.max(0, ...candidates(c.text, list, { minScore: 0 }).map((f) => f.score));
      t.judge(best(own) > best(deaf) || best(own) === 1, `${c.entity}: ${c.text.slice(0, 80)}`);
    }
    return t.result();
  },
};

const STRUCTURED = new Set([
  "CREDIT_CARD",
  "US_SSN",
  "IBAN_CODE",
  "IP_ADDRESS",
  "PHONE_NUMBER",
  "EMAIL_ADDRESS",
  "DOMAIN_NAME",
  "DATE_TIME",
]);
const SENTENCE_TYPE: Readonly<Record<string, string>> = {
  URL: "DOMAIN_NAME",
  PH_MOBILE_NUMBER: "PHONE_NUMBER",
  TR_PHONE_NUMBER: "PHONE_NUMBER",
};

/** Kinds of dates that annotators label or leave out as a whole. */
function dateKind(text: string): string {
  if (/^\d{4}$/.test(text)) return "year";
  if (/day$/i.test(text)) return "weekday";
  return /[a-z]/i.test(text.replace(/T|Z|am|pm/gi, "")) ? "words" : "digits";
}

/**
 * Structured types in sentences, overlap match. Where a set labels no date of a kind (bare years, weekdays, dates in words) although its texts hold them,
 * true dates of that kind are not counted as false; `raw_f1` counts them.
 */
function sentences(file: string, floor: number): ConformanceSuite {
  return {
    name: `classification/${file}`,
    floor,
    async run(dir) {
      const set = sentenceFiles(dir).find(({ name }) => name === file)?.content ?? [];
      const labelled = new Set(
        set.flatMap((s) => s.spans.filter((x) => x.entity_type === "DATE_TIME").map((x) => dateKind(x.entity_value))),
      );
      const sums = new Map<string, { tp: number; fp: number; fn: number }>();
      const of = (type: string) => {
        const s = sums.get(type) ?? { tp: 0, fp: 0, fn: 0 };
        sums.set(type, s);
        return s;
      };
      const failures: string[] = [];
      let rawFalse = 0;
      for (const sentence of set) {
        const found = recognise(sentence.full_text, DEFAULT_RECOGNISERS).map((f) => ({
          ...f,
          entity: SENTENCE_TYPE[f.entity] ?? f.entity,
        }));
        for (const span of sentence.spans) {
          if (!STRUCTURED.has(span.entity_type)) continue;
          const at = { start: span.start_position, end: span.end_position };
          if (found.some((f) => f.entity === span.entity_type && overlaps(f, at))) of(span.entity_type).tp++;
          else {
            of(span.entity_type).fn++;
            failures.push(`missed ${span.entity_type}: ${sentence.full_text.slice(Math.max(0, at.start - 40), at.end)}`);
          }
        }
        for (const f of found) {
          if (!STRUCTURED.has(f.entity)) continue;
          if (
            sentence.spans.some(
              (s) => s.entity_type === f.entity && overlaps(f, { start: s.start_position, end: s.end_position }),
            )
          )
            continue;
          rawFalse++;
          if (f.entity === "DATE_TIME" && !labelled.has(dateKind(sentence.full_text.slice(f.start, f.end)))) continue;
          of(f.entity).fp++;
          failures.push(`false ${f.entity} (${f.pattern}): ${sentence.full_text.slice(Math.max(0, f.start - 40), f.end + 10)}`);
        }
      }
      let [tp, fp, fn] = [0, 0, 0];
      for (const s of sums.values()) {
        tp += s.tp;
        fp += s.fp;
        fn += s.fn;
      }
      const recall = (type: string) => (of(type).tp + of(type).fn === 0 ? 1 : of(type).tp / (of(type).tp + of(type).fn));
      const precision = (type: string) => (of(type).tp + of(type).fp === 0 ? 1 : of(type).tp / (of(type).tp + of(type).fp));
      return {
        passed: 2 * tp,
        failed: fp + fn,
        skipped: 0,
        failures: failures.slice(0, 200),
        figures: {
          f1: f1(tp, fp, fn),
          raw_f1: f1(tp, rawFalse, fn),
          precision: tp / Math.max(1, tp + fp),
          recall: tp / Math.max(1, tp + fn),
          card_recall: recall("CREDIT_CARD"),
          phone_recall: recall("PHONE_NUMBER"),
          phone_precision: precision("PHONE_NUMBER"),
        },
      };
    },
  };
}

/** Sentences without any label must not be held for confidential. */
const clean: ConformanceSuite = {
  name: "classification/clean-sentences",
  floor: 0.99,
  async run(dir) {
    const t = tally();
    const classifier = createClassifier();
    for (const { content } of sentenceFiles(dir)) {
      for (const s of content) {
        if (s.spans.length > 0) continue;
        const result = classifier.classify(s.full_text);
        t.judge(tierRank(classifier.policy, result.tier) < 2, `${result.tier}: ${s.full_text} (${result.reasoning})`);
      }
    }
    return t.result();
  },
};

const INFOTYPES: Readonly<Record<string, readonly [entity: string, ...terms: readonly string[]]>> = {
  Email_Address: ["EMAIL_ADDRESS"],
  Phone_Number: ["PHONE_NUMBER"],
  US_Social_Security_Number: ["US_SSN"],
  Credit_Debit_Card_Number: ["CREDIT_CARD", "card number"],
  Full_Name: ["PERSON", "name", "full name"],
  Age: ["AGE"],
  Gender: ["GENDER"],
  Street_Address: ["STREET_ADDRESS", "street address"],
  IP_Address_v4: ["IP_ADDRESS"],
  IP_Address_v6: ["IP_ADDRESS"],
  IBAN: ["IBAN_CODE"],
  Vehicle_Identification_Number: ["VEHICLE_ID"],
  US_Driving_License_Number: ["DRIVER_LICENSE"],
};

const columns: ConformanceSuite = {
  name: "classification/columns",
  floor: 0.98,
  async run(dir) {
    const files = casesIn<{
      columns: readonly { dataset: string; column: string; infotype: string | null; samples: readonly string[] }[];
    }>(dir, "classification", (x) => hasRows(x, "columns", "column", "infotype", "samples"));
    const t = tally();
    let [tp, fp, fn] = [0, 0, 0];
    for (const c of files.flatMap(({ content }) => content.columns)) {
      const got = classifyColumn({ name: c.column, about: c.dataset, values: c.samples.map(String) });
      const want = c.infotype === null ? undefined : INFOTYPES[c.infotype];
      const is = ([entity, ...terms]: readonly [string, ...(readonly string[])]) =>
        got?.entity === entity && (terms.length === 0 || terms.includes(got.term));
      const isInfotype = Object.values(INFOTYPES).some(is);
      const right = want !== undefined && is(want);
      if (right) tp++;
      else {
        if (want !== undefined) fn++;
        if (isInfotype) fp++;
      }
      t.judge(
        right || (want === undefined && !isInfotype),
        `${c.dataset}.${c.column}: wanted ${c.infotype}, got ${got?.term} ${got?.score}`,
      );
    }
    return t.result({ precision: tp / Math.max(1, tp + fp), recall: tp / Math.max(1, tp + fn) });
  },
};

/** A value is accepted when the recogniser of the type takes the whole of it. */
function whole(entity: string, value: string): boolean {
  return candidates(
    value,
    DEFAULT_RECOGNISERS.filter((r) => r.entity === entity),
    { minScore: 0 },
  ).some((f) => f.start === 0 && f.end === value.length);
}

interface StringGroup {
  readonly validator: string;
  readonly args: readonly unknown[];
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

/** validator.js's strings, of the validators that `accept` knows. */
function strings(
  name: string,
  floor: number,
  accept: (group: StringGroup) => ((value: string) => boolean) | undefined,
): ConformanceSuite {
  return {
    name,
    floor,
    async run(dir) {
      const t = tally();
      for (const g of stringGroups(dir)) {
        const accepts = accept(g);
        if (accepts === undefined) {
          t.skip();
          continue;
        }
        const judge = (value: string, label: "valid" | "invalid") =>
          exceptionFor(g.validator, g.args[0], label, value) === undefined
            ? t.judge(accepts(value) === (label === "valid"), `${g.validator} ${JSON.stringify(g.args)}: ${label} ${value}`)
            : t.skip();
        for (const value of g.valid) judge(value, "valid");
        for (const value of g.invalid) judge(value, "invalid");
      }
      return t.result();
    },
  };
}

function acceptor({ validator, args }: StringGroup): ((value: string) => boolean) | undefined {
  const option = args[0];
  if (validator === "isCreditCard") {
    const provider = (option as { provider?: string } | undefined)?.provider;
    return (value) => {
      const digits = value.replace(/[- ]/g, "");
      return /^\d+$/.test(digits) && isCardNumber(digits) && (provider === undefined || cardNetworks(digits).includes(provider));
    };
  }
  if (validator === "isIBAN" && option === undefined) return (value) => whole("IBAN_CODE", value);
  if (validator === "isIP" && option === 6)
    return (value) => value.includes(":") && isIpv6(value.replace(/%[A-Za-z0-9.]{1,32}$/, ""));
  if (validator === "isIP" && option === undefined) {
    return (value) =>
      /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(value) ||
      (value.includes(":") && isIpv6(value.replace(/%[A-Za-z0-9.]{1,16}$/, "")));
  }
  if (validator === "isMACAddress" && option === undefined) return (value) => whole("MAC_ADDRESS", value);
  if (validator === "isAbaRouting") return (value) => whole("ABA_ROUTING_NUMBER", value);
  if (validator === "isEmail" && option === undefined) return (value) => whole("EMAIL_ADDRESS", value);
  return undefined;
}

/** Where a group's numbers are from: the country behind the language, with the hint's names. */
function countryOfGroup(locale: string): string {
  const code = locale.slice(-2).toLowerCase();
  return ({ gb: "uk", el: locale.length === 2 ? "gr" : "cy", dk: "dk" } as Record<string, string>)[code] ?? code;
}

/** What a number is without what people write between its digits. */
const bare = (value: string) => value.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase();

/**
 * Groups of numbers of a country, under a hint at it. A recogniser whose check digits confirm any of the group's valid samples takes what they confirm; of the others the
 * shape counts. Left out, and counted as skipped: samples whose label a named rule of the register contradicts, and samples that are called invalid for the blanks and
 * hyphens in a number that the group calls valid, which are no fault in a text.
 */
function official(
  name: string,
  validator: (name: string) => boolean,
  entities: RegExp,
  told: (value: string, locale: string) => boolean = () => true,
): ConformanceSuite {
  return {
    name,
    floor: 0.99,
    async run(dir) {
      const t = tally();
      let contradicted = 0;
      for (const g of stringGroups(dir)) {
        if (!validator(g.validator)) continue;
        const locale = String(g.args[0]);
        const country = countryOfGroup(locale);
        const own = DEFAULT_RECOGNISERS.filter((r) => r.country === country && entities.test(r.entity));
        const written = new Set(g.valid.map(bare));
        const readings = (recogniser: Recogniser, text: string) =>
          candidates(text, [recogniser], { minScore: 0, country }).filter((f) => f.start === 0 && f.end === text.length);
        const confirms = new Set(
          own.filter((r) => g.valid.some((value) => readings(r, value.trim()).some((f) => f.validator === "passed"))),
        );
        const takes = (text: string) =>
          own.some((r) => readings(r, text).some((f) => f.validator === "passed" || !confirms.has(r)));
        const judge = (value: string, label: "valid" | "invalid") => {
          const excepted = exceptionFor(g.validator, locale, label, value) !== undefined;
          if (excepted) contradicted++;
          if (!told(value, locale) || excepted || own.length === 0 || (label === "invalid" && written.has(bare(value))))
            return t.skip();
          t.judge(takes(value.trim()) === (label === "valid"), `${g.validator} ${locale}: ${label} ${value}`);
        };
        for (const value of g.valid) judge(value, "valid");
        for (const value of g.invalid) judge(value, "invalid");
      }
      return t.result({ labels_against_the_rule: contradicted });
    },
  };
}

/**
 * Telephone numbers that validator.js calls valid, under a hint at their country. What it calls invalid is mostly a number of another country, of a fixed line or without the
 * separators that a text has: shapes that a search must take, so that none of it is judged.
 */
const phoneStrings: ConformanceSuite = {
  name: "classification/string-validators-phones",
  floor: 0.99,
  async run(dir) {
    const t = tally();
    const own = DEFAULT_RECOGNISERS.filter((r) => /PHONE|MOBILE/.test(r.entity));
    for (const g of stringGroups(dir)) {
      if (g.validator !== "isMobilePhone") continue;
      const locales = [g.args[0]].flat().map(String);
      if (!locales.every((locale) => /-[A-Z]{2}$/.test(locale))) {
        t.skip();
        continue;
      }
      for (const value of g.valid) {
        const taken = locales.some((locale) =>
          candidates(value, own, { minScore: 0, country: countryOfGroup(locale) }).some(
            (f) => f.start === 0 && f.end === value.length,
          ),
        );
        t.judge(taken, `${locales}: refused ${value}`);
      }
    }
    return t.result();
  },
};

/** The labels of sentences as tiers, for calibration. */
const LABEL_ENTITY: Readonly<Record<string, string>> = {
  DOMAIN_NAME: "URL",
  ADDRESS: "STREET_ADDRESS",
  GPE: "CITY",
  LOCATION: "CITY",
  NRP: "NATIONALITY",
  TITLE: "JOB_TITLE",
};
const UNTIERED = new Set(["ORGANIZATION"]);

/** Expected calibration error of `confidence` over ten bins, on the half of the cases that the reliabilities were not fitted on. */
const calibration: ConformanceSuite = {
  name: "classification/calibration",
  floor: 0.95,
  async run(dir) {
    const classifier = createClassifier();
    const bins = Array.from({ length: 10 }, () => ({ n: 0, confidence: 0, right: 0 }));
    const judged = new Set<string>();
    let n = 0;
    let right = 0;
    const judge = (text: string, tier: string) => {
      // Templates repeat some texts dozens of times: each text is judged once.
      if (hash(text) % 2 === 0 || judged.has(text)) return;
      judged.add(text);
      const got = classifier.classify(text);
      const bin = bins[Math.min(9, Math.floor(got.confidence * 10))];
      if (bin === undefined) return;
      n++;
      bin.n++;
      bin.confidence += got.confidence;
      if (got.tier === tier) {
        bin.right++;
        right++;
      }
    };
    for (const { content } of sentenceFiles(dir)) {
      for (const s of content) {
        let tier = "PUBLIC";
        for (const span of s.spans) {
          if (!UNTIERED.has(span.entity_type))
            tier = maxTier(
              DEFAULT_TIER_POLICY,
              tier,
              policyOf(DEFAULT_TIER_POLICY, LABEL_ENTITY[span.entity_type] ?? span.entity_type).tier,
            );
        }
        judge(s.full_text, tier);
      }
    }
    for (const c of cases(dir).cases) {
      if (c.positive && c.needs === undefined && c.expected.every((s) => (s.presidio_score ?? 0) >= 0.3))
        judge(c.text, policyOf(DEFAULT_TIER_POLICY, c.entity).tier);
    }
    if (n === 0) return tally().result();
    const ece = bins.reduce((sum, b) => sum + (b.n === 0 ? 0 : (b.n / n) * Math.abs(b.confidence / b.n - b.right / b.n)), 0);
    const result: SuiteResult = {
      passed: Math.round((1 - ece) * 10_000),
      failed: Math.round(ece * 10_000),
      skipped: 0,
      failures: bins.map(
        (b, i) =>
          `bin ${i}: n ${b.n}, said ${(b.confidence / Math.max(1, b.n)).toFixed(3)}, was ${(b.right / Math.max(1, b.n)).toFixed(3)}`,
      ),
      figures: { ece, accuracy: right / Math.max(1, n) },
    };
    return result;
  },
};

/** FNV-1a: splits cases the same way everywhere. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h >>> 4) ^ h;
}

/** Lowest share of right spans in sentences, by set; another set has the lowest of these. */
const SENTENCE_FLOORS: Readonly<Record<string, number>> = {
  "sentences-synth_dataset_v2": 0.93,
  "sentences-generated_small": 0.97,
};

export const suites: SuitesOf = (dir) => [
  spans,
  validators,
  pooled("classification/pooled-type", 0.93, false),
  pooled("classification/pooled-type-with-country", 0.97, true),
  context,
  ...[...new Set([...Object.keys(SENTENCE_FLOORS), ...sentenceFiles(dir).map(({ name }) => name)])].map((name) =>
    sentences(name, SENTENCE_FLOORS[name] ?? 0.93),
  ),
  clean,
  columns,
  strings("classification/string-validators", 0.99, acceptor),
  official(
    "classification/string-validators-official",
    (name) => name === "isTaxID" || name === "isIdentityCard",
    /^(?!.*(?:VAT|PHONE|PASSPORT|LICEN|VEHICLE|KFZ|PLZ|POSTCODE))/,
  ),
  // A bare number is none to a search: only those with their prefix are judged, without those that only a blank behind it makes invalid.
  official(
    "classification/string-validators-vat",
    (name) => name === "isVAT",
    /VAT/,
    (value, locale) => value.startsWith(locale === "BY" ? "УНП" : locale) && !/^[A-Z]{2} /.test(value),
  ),
  official("classification/string-validators-passports", (name) => name === "isPassportNumber", /^PASSPORT_NUMBER$/),
  strings("classification/string-validators-url", 0.99, ({ validator, args }) =>
    validator === "isURL" && args.length === 0 ? (value) => whole("URL", value) : undefined,
  ),
  phoneStrings,
  calibration,
];
