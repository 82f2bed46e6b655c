/** What is found beside Presidio and detect-secrets, in the same texts: recall, precision and the processor's time. Peers are what `tools/install-peers.sh` makes. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { createClassifier } from "@seneschal/governance";
import { generate } from "../../conformance/free-text/generate.ts";
import { HELD_OUT_TEMPLATES } from "../../conformance/free-text/held-out-templates.ts";
import { HELD_OUT_VALUES } from "../../conformance/free-text/held-out-values.ts";
import type { Bench, BenchResult } from "../bench.ts";

interface Span {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
}

interface Labelled {
  readonly text: string;
  readonly labels: readonly Span[];
}

/** What was found in each of some texts, and the seconds of processor that it took. */
interface Found {
  readonly spans: readonly (readonly Span[])[];
  readonly seconds: number;
}

/** Our names for what both look for. */
const SHARED: Readonly<Record<string, string>> = {
  CREDIT_CARD: "CREDIT_CARD",
  IBAN_CODE: "IBAN_CODE",
  EMAIL_ADDRESS: "EMAIL_ADDRESS",
  PHONE_NUMBER: "PHONE_NUMBER",
  IP_ADDRESS: "IP_ADDRESS",
  US_SSN: "US_SSN",
};
const SECRETS: Readonly<Record<string, string>> = Object.fromEntries(
  ["SECRET", "PASSWORD", "API_KEY", "VENDOR_TOKEN", "PRIVATE_KEY", "JWT"].map((entity) => [entity, "SECRET"]),
);

const RESEARCH = new URL("../../../shared/data/classification/sentences-synth_dataset_v2.json", import.meta.url);
/** Presidio's own labelled sentences, where they are. */
function researchSentences(): readonly Labelled[] {
  if (!existsSync(RESEARCH)) return [];
  const sentences = JSON.parse(readFileSync(RESEARCH, "utf8")) as readonly {
    readonly full_text: string;
    readonly spans: readonly {
      readonly entity_type: string;
      readonly start_position: number;
      readonly end_position: number;
    }[];
  }[];
  return sentences.map(({ full_text: text, spans }) => ({
    text,
    labels: spans.map((span) => ({ entity: span.entity_type, start: span.start_position, end: span.end_position })),
  }));
}

const heldOut = (): readonly (Labelled & { readonly language: string })[] =>
  generate(HELD_OUT_TEMPLATES, HELD_OUT_VALUES, 20_261_123, 12);

/** Runs a peer's program on the texts; `undefined` where it is not installed. */
function peer<T>(environment: string, program: string, texts: readonly string[]): { found: T[][]; seconds: number } | undefined {
  const python = new URL(`../../.peers/${environment}/bin/python`, import.meta.url).pathname;
  if (!existsSync(python)) return undefined;
  const { status, stdout } = spawnSync(python, [new URL(`../peers/${program}`, import.meta.url).pathname], {
    input: JSON.stringify({ texts }),
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 600_000,
  });
  return status === 0 ? (JSON.parse(stdout) as { found: T[][]; seconds: number }) : undefined;
}

/** Recall and precision: a label is found where a finding of its entity overlaps it, and a finding is right where it overlaps such a label. */
function judge(texts: readonly Labelled[], { spans }: Found, entities: Readonly<Record<string, string>>) {
  let [labelled, hit, said, right] = [0, 0, 0, 0];
  const overlap = (a: Span, b: Span): boolean => entities[a.entity] === entities[b.entity] && a.start < b.end && a.end > b.start;
  for (const [i, { labels }] of texts.entries()) {
    const wanted = labels.filter(({ entity }) => entities[entity] !== undefined);
    const found = (spans[i] ?? []).filter(({ entity }) => entities[entity] !== undefined);
    labelled += wanted.length;
    hit += wanted.filter((label) => found.some((one) => overlap(one, label))).length;
    said += found.length;
    right += found.filter((one) => wanted.some((label) => overlap(one, label))).length;
  }
  return { recall: hit / labelled, precision: said === 0 ? 1 : right / said };
}

async function ours(texts: readonly Labelled[]): Promise<Found> {
  const classifier = createClassifier({ sql: await openSqlParser() });
  for (const { text } of texts) classifier.classify(text);
  const started = process.cpuUsage();
  const spans = texts.map(({ text }) =>
    classifier.classify(text).findings.filter(({ path, column }) => path === undefined && column === undefined),
  );
  const { user, system } = process.cpuUsage(started);
  return { spans, seconds: (user + system) / 1e6 };
}

/** The threshold of Presidio's scores at which its F1 on these texts is the highest: the best that it can be set to. */
function best(
  texts: readonly Labelled[],
  found: readonly (readonly (readonly [string, number, number, number])[])[],
): Found["spans"] {
  const at = (threshold: number): Found["spans"] =>
    found.map((one) => one.filter(([, , , score]) => score >= threshold).map(([entity, start, end]) => ({ entity, start, end })));
  const f1 = (spans: Found["spans"]): number => {
    const { recall, precision } = judge(texts, { spans, seconds: 0 }, SHARED);
    return (2 * recall * precision) / (recall + precision || 1);
  };
  const [first, ...others] = [0, 0.2, 0.35, 0.5, 0.7].map(at) as [Found["spans"], ...Found["spans"][]];
  return others.reduce((a, b) => (f1(b) > f1(a) ? b : a), first);
}

async function presidio(name: string, texts: readonly Labelled[]): Promise<BenchResult[]> {
  if (texts.length === 0) return [];
  // Presidio counts code points, which are code units in these texts.
  const there = peer<readonly [string, number, number, number]>(
    "presidio",
    "presidio.py",
    texts.map(({ text }) => text),
  );
  const theirs = there && { spans: best(texts, there.found), seconds: there.seconds };
  return beside(name, "Presidio", texts, SHARED, theirs);
}

async function beside(
  name: string,
  peerName: string,
  texts: readonly Labelled[],
  entities: Readonly<Record<string, string>>,
  theirs: Found | undefined,
): Promise<BenchResult[]> {
  const own = await ours(texts);
  const [we, they] = [judge(texts, own, entities), theirs && judge(texts, theirs, entities)];
  const row = (what: string, unit: string, value: number, peerValue: number | undefined, bar: string): BenchResult => ({
    name: `${name}: ${what}`,
    value,
    unit,
    bar,
    ...(peerValue === undefined ? {} : { peer: peerName, peerValue, ratio: value / peerValue }),
  });
  const perSecond = ({ seconds }: Found): number => texts.length / seconds;
  return [
    row("recall", "", we.recall, they?.recall, ">= the peer's"),
    row("precision", "", we.precision, they?.precision, ">= the peer's"),
    row("texts", "/s", perSecond(own), theirs && perSecond(theirs), ">= the peer's"),
  ];
}

const identifiers: Bench = {
  name: "classification/identifiers beside Presidio",
  async run() {
    const unseen = heldOut().filter(({ language }) => language === "en");
    const ascii = (texts: readonly Labelled[]): Labelled[] => texts.filter(({ text }) => text.length === [...text].length);
    return [
      ...(await presidio("identifiers in held-out English prose", ascii(unseen))),
      ...(await presidio("identifiers in Presidio's sentences", ascii(researchSentences()))),
    ];
  },
};

const secrets: Bench = {
  name: "classification/secrets beside detect-secrets",
  async run() {
    const texts = heldOut();
    const there = peer<readonly [number, string]>(
      "detect-secrets",
      "scan_secrets.py",
      texts.map(({ text }) => text),
    );
    const theirs = there && {
      seconds: there.seconds,
      spans: there.found.map((found, i) => found.map(([line, value]) => spanOf(texts[i]?.text ?? "", line, value))),
    };
    return beside("secrets in held-out prose", "detect-secrets", texts, SECRETS, theirs);
  },
};

/** Where a value stands in a line of a text; the whole line where it does not stand there as it is told. */
function spanOf(text: string, line: number, value: string): Span {
  const lines = text.split("\n");
  const begin = lines.slice(0, line).reduce((at, one) => at + one.length + 1, 0);
  const at = (lines[line] ?? "").indexOf(value);
  if (at < 0) return { entity: "SECRET", start: begin, end: begin + (lines[line]?.length ?? 0) };
  return { entity: "SECRET", start: begin + at, end: begin + at + value.length };
}

export const benches: readonly Bench[] = [identifiers, secrets];
