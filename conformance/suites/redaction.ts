/** Redaction over 10,000 generated texts: what is found is gone wherever it stood, twice is once, and what can be restored comes back byte for byte. */
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import {
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  policyOf,
  type RedactionOptions,
  type RedactionRule,
  redact,
  redactAs,
  redactionKeys,
  restore,
  tierRank,
} from "@seneschal/governance";
import { generate, type LabelledText, randomFrom } from "../free-text/generate.ts";
import { HELD_OUT_TEMPLATES } from "../free-text/held-out-templates.ts";
import { HELD_OUT_VALUES } from "../free-text/held-out-values.ts";
import { TEMPLATES } from "../free-text/templates.ts";
import { VALUES } from "../free-text/values.ts";
import type { ConformanceSuite } from "../suite.ts";
import { tally } from "../tally.ts";

const draw = randomFrom(3);
const random = (size: number) => Uint8Array.from({ length: size }, () => Math.floor(draw() * 256));
const keys = redactionKeys(
  nodeCrypto,
  Uint8Array.from({ length: 32 }, (_, i) => i),
  random,
);
const policy = DEFAULT_TIER_POLICY;
const optionsOf = (...rules: readonly RedactionRule[]): RedactionOptions => ({
  policy,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});

const SEEN = () => generate(TEMPLATES, VALUES, 5, 36);
const texts = (): readonly LabelledText[] =>
  [...SEEN(), ...generate(HELD_OUT_TEMPLATES, HELD_OUT_VALUES, 6, 40)].slice(0, 10_000);
/** Rules one after the other; the last is reversible in everything. */
const RULES: readonly (readonly RedactionRule[])[] = [
  [{ operator: "replace" }],
  [{ operator: "mask" }],
  [{ entity: "CREDIT_CARD", operator: "mask", keepLast: 4 }, { tier: "RESTRICTED", operator: "drop" }, { operator: "hash" }],
  [
    { entity: "DATE_OF_BIRTH", operator: "generalise" },
    { entity: "IP_ADDRESS", operator: "generalise" },
    { operator: "tokenise" },
  ],
];
const REVERSIBLE: readonly RedactionRule[] = [{ tier: "RESTRICTED", operator: "encrypt" }, { operator: "tokenise" }];
/** Values of these are found by their shape: none may be left. */
const SHAPED = new Set(["EMAIL_ADDRESS", "IBAN_CODE", "CREDIT_CARD", "IP_ADDRESS"]);

const markerless = (text: string) => text.replace(/<[A-Z_]+(?: [^>]*)?>/g, " ");

const found: ConformanceSuite = {
  name: "redaction/found-values-are-gone",
  floor: 1,
  async run() {
    const t = tally();
    for (const [i, { text }] of texts().entries()) {
      const result = redact(text, optionsOf(...(RULES[i % 2] ?? [])));
      const left = markerless(result.text);
      const survivor = result.redactions.find(({ start, end }) => end - start >= 4 && standsIn(left, text.slice(start, end)));
      t.judge(survivor === undefined, `${survivor?.entity} is left`);
    }
    return t.result();
  },
};

/** As a whole word. */
function standsIn(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? "") && !/[\p{L}\p{N}]/u.test(text[at + value.length] ?? "")) return true;
  }
  return false;
}

const labelled: ConformanceSuite = {
  name: "redaction/labelled-values-are-gone",
  floor: 0.9,
  async run() {
    const t = tally();
    const shaped = tally();
    const kinds = new Map<string, ReturnType<typeof tally>>();
    const seen = SEEN().length;
    for (const [i, { text, labels }] of texts().entries()) {
      const left = markerless(redact(text, optionsOf({ operator: "replace" })).text);
      for (const { entity, start, end } of labels) {
        const tier = policyOf(policy, entity === "SECRET" ? "API_KEY" : entity).tier;
        if (tierRank(policy, tier) < 2) continue;
        const gone = !standsIn(left, text.slice(start, end));
        t.judge(gone, `${entity} is left`);
        if (SHAPED.has(entity)) shaped.judge(gone, "");
        const kind = `${entity}_${i < seen ? "seen" : "unseen"}`;
        const counted = kinds.get(kind) ?? tally();
        kinds.set(kind, counted);
        counted.judge(gone, "");
      }
    }
    const byKind = [...kinds].sort().map(([kind, counted]) => [kind, counted.rate()] as const);
    return t.result({ by_shape: shaped.rate(), ...Object.fromEntries(byKind) });
  },
};

const twice: ConformanceSuite = {
  name: "redaction/twice-is-once",
  floor: 1,
  async run() {
    const t = tally();
    for (const [i, { text }] of texts().entries()) {
      const options = optionsOf(...(RULES[i % RULES.length] ?? []));
      const once = redact(text, options).text;
      t.judge(redact(once, options).text === once, `changed again under rules ${i % RULES.length}`);
    }
    return t.result();
  },
};

const restored: ConformanceSuite = {
  name: "redaction/restore-gives-the-original",
  floor: 1,
  async run() {
    const t = tally();
    for (const [i, { text }] of texts().entries()) {
      const kind = i % 3;
      const given =
        kind === 0
          ? text
          : kind === 1
            ? JSON.stringify({ note: text, id: i, phone: 2025550100 + i }, null, i % 2)
            : `id;note\r\n${i};"${text.replaceAll('"', '""')}"\r\n`;
      const format = (["text", "json", "csv"] as const)[kind] ?? "text";
      const options = optionsOf(...REVERSIBLE);
      const redacted = redactAs(format, given, options).text;
      // What was JSON is JSON.
      if (kind === 1) JSON.parse(redacted);
      t.judge(
        restore(redacted, policy, keys).text === given && redactAs(format, redacted, options).text === redacted,
        `${format} ${i}`,
      );
    }
    return t.result();
  },
};

export const suites: readonly ConformanceSuite[] = [found, labelled, twice, restored];
