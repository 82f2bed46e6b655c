import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  REDACTION_FORMATS,
  REDACTION_OPERATORS,
  type RedactionRule,
  redact,
  redactAs,
  redactColumns,
  redactionKeys,
  restore,
} from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { systemRandom } from "../../src/system/index.ts";

const keyOf = (byte: number) => redactionKeys(nodeCrypto, new Uint8Array(32).fill(byte), systemRandom);
const keys = keyOf(1);
const optionsOf = (...rules: readonly RedactionRule[]) => ({
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});

/** Texts of values, of what surrounds them, of markers true and forged, and of anything. */
const piece = fc.oneof(
  fc.constantFrom(
    "Anna Müller ",
    "dear Mr Okafor,\n",
    "4111 1111 1111 1111",
    " ada@example.org",
    " born 14 March 1985 ",
    "192.0.2.17",
    " has asthma. ",
    "password: hunter2xx",
    "<PERSON>",
    "<PERSON token:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA>",
    "<EMAIL_ADDRESS ada@example.org>",
    "<AGE 30-39>",
    "****",
    "\u{1f600}",
    "e\u0301",
    '"',
    "\\",
    "\r\n",
    ";",
    " ",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const prose = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const rule = fc.record(
  {
    entity: fc.constantFrom("PERSON", "EMAIL_ADDRESS", "CREDIT_CARD", "DATE_TIME", "IP_ADDRESS"),
    tier: fc.constantFrom("INTERNAL", "CONFIDENTIAL", "RESTRICTED"),
    operator: fc.constantFrom(...REDACTION_OPERATORS),
    keepLast: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: ["operator"] },
) as fc.Arbitrary<RedactionRule>;

/** A text as each format would hold it. */
const written = (format: (typeof REDACTION_FORMATS)[number], text: string): string =>
  format === "json"
    ? JSON.stringify({ note: text, [text]: [1, 2025550143, null, true, { email: text }] })
    : format === "csv" || format === "tsv"
      ? `id,note\n1,`.replaceAll(",", format === "csv" ? "," : "\t").concat(`"${text.replaceAll('"', '""')}"\n`)
      : format === "sse"
        ? `: ${text.replaceAll(/[\r\n]/g, "")}\n\n${text
            .split(/(?<=o)/)
            .map(
              (part) =>
                `id: 7\ndata: ${part.replaceAll(/\r\n|[\r\n]/g, "\ndata: ")}\n\ndata: ${JSON.stringify({ note: part })}\n\n`,
            )
            .join("")}`
        : text;

test("twice is once, whatever the rules and the format", () => {
  fc.assert(
    fc.property(prose, fc.array(rule, { maxLength: 4 }), fc.constantFrom(...REDACTION_FORMATS), (text, rules, format) => {
      const once = redactAs(format, written(format, text), optionsOf(...rules)).text;
      expect(redactAs(format, once, optionsOf(...rules)).text).toBe(once);
    }),
  );
});

test("what is tokenised or encrypted is restored byte for byte, by the key that took it alone", () => {
  fc.assert(
    fc.property(
      prose,
      fc.constantFrom("tokenise", "encrypt"),
      fc.constantFrom(...REDACTION_FORMATS),
      (text, operator, format) => {
        const given = written(format, text);
        const { text: redacted } = redactAs(format, given, optionsOf({ operator: operator as "encrypt" }));
        const { text: restored, count, left } = restore(redacted, DEFAULT_TIER_POLICY, keys);
        expect(restored).toBe(given);
        expect(restore(redacted, DEFAULT_TIER_POLICY, keyOf(2))).toEqual({ text: redacted, count: 0, left: left + count });
      },
    ),
  );
});

test("the places told are those of the values, in the text given and in the redacted one", () => {
  fc.assert(
    fc.property(prose, fc.array(rule, { maxLength: 3 }), (text, rules) => {
      const { text: redacted, redactions } = redact(text, optionsOf(...rules));
      let [from, to] = [0, 0];
      let rebuilt = "";
      for (const { start, end, redactedStart, redactedEnd } of redactions) {
        expect(redacted.slice(to, redactedStart)).toBe(text.slice(from, start));
        rebuilt += text.slice(from, end);
        [from, to] = [end, redactedEnd];
      }
      expect(redacted.slice(to)).toBe(text.slice(from));
      expect(rebuilt + text.slice(from)).toBe(text);
    }),
  );
});

test("nobody hides a value behind a marker of his own", () => {
  for (const forged of [
    "<EMAIL_ADDRESS ada@example.org>",
    `<PERSON token:${"QWRh".repeat(14)}>`,
    "<API_KEY hash:ada@example.org>",
  ])
    expect(redact(`${forged} password: hunter2xx`, optionsOf()).text).not.toMatch(/ada@|hunter2/);
  const { text } = redact(`key=<PERSON token:ghp_${"aB3dE6gH9j".repeat(4).slice(0, 36)}>`, optionsOf());
  expect(text).not.toContain("ghp_");
});

test.each([
  [
    "generalise",
    "Anna Smith, born 14 March 1985, logged in from 192.0.2.17",
    "<PERSON>, born <DATE_OF_BIRTH 1985>, logged in from <IP_ADDRESS 192.0.2.0/24>",
  ],
  ["drop", "mail ada@example.org now", "mail  now"],
  ["mask", "mail ada@example.org now", "mail ***@*******.*** now"],
  ["keep", "mail ada@example.org now", "mail ada@example.org now"],
  ["replace", "Priya Raman called. Tell raman nothing, Priya Raman knows", "<PERSON> called. Tell raman nothing, <PERSON> knows"],
] as const)("%s: %s", (operator, given, wanted) => expect(redact(given, optionsOf({ operator })).text).toBe(wanted));

test("a name over a value redacts the whole of it, and a number of JSON becomes a text", () => {
  expect(redactAs("json", '{"diagnosis": "flu", "n": 7, "phone": 2025550143}', optionsOf()).text).toBe(
    '{"diagnosis": "<HEALTH_DATA>", "n": 7, "phone": "<PHONE_NUMBER>"}',
  );
  expect(redactAs("csv", "id;email\r\n1;ada@example.org\r\n", optionsOf()).text).toBe("id;email\r\n1;<EMAIL_ADDRESS>\r\n");
});

test("hostile texts are redacted in work that grows with them", () => {
  for (const unit of ["<PERSON>", "<PERSON token:", "****", "Anna Smith ", "ada@example.org ", "a1b2"])
    expect(redact(unit.repeat(40_000 / unit.length), optionsOf()).text.length).toBeGreaterThan(0);
});

test("no marker of any operator is a finding, wherever it stands and whoever's key made it", () => {
  const { classify } = createClassifier();
  const made = redactionKeys(nodeCrypto, new Uint8Array(32).fill(5), seededRandom(5));
  const marker = fc
    .tuple(
      fc.constantFrom(...Object.keys(DEFAULT_TIER_POLICY.entities)),
      fc.constantFrom("plain", "hash", "token", "sealed", "mask"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }),
    )
    .map(([entity, form, value]) =>
      form === "plain"
        ? `<${entity}>`
        : form === "mask"
          ? "***@*******.***"
          : `<${entity} ${form}:${made.keep(form as "hash", entity, value)}>`,
    );
  const general = fc.constantFrom("<DATE_OF_BIRTH 1985>", "<AGE 30-39>", "<IP_ADDRESS 192.0.2.0/24>");
  const place = fc.constantFrom<(marker: string) => string>(
    (marker) => marker,
    (marker) => `from ${marker} to ${marker}.`,
    (marker) => `password: ${marker}`,
    (marker) => `the ssn is ${marker}, born ${marker}\n`,
    (marker) => JSON.stringify({ ssn: marker, note: [`to ${marker}`], [marker]: 1 }),
    (marker) => `nr,password,note\n1,${marker},x\n2,${marker},to ${marker}\n`,
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 8, arbitrary: marker }, general), place, (made, stands) => {
      // Of a password's name and its stars a mask by these rules leaves neither.
      fc.pre(!made.includes("*") || !stands(made).startsWith("password"));
      const text = stands(made);
      const { findings, tags, tier, reasoning } = classify(text);
      expect({ findings, tags, tier }, `${text}: ${reasoning}`).toEqual({ findings: [], tags: [], tier: "PUBLIC" });
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["a text in base64", `<PERSON token:${Buffer.from("my ssn is 536-22-8726, ada@example.org").toString("base64url")}>`],
  ["a value as it is", "<EMAIL_ADDRESS ada@example.org>"],
  ["a hash of another length", "<API_KEY hash:AKIAIOSFODNN7EXAMPLE>"],
  ["a credential", `<PERSON token:ghp_${"aB3dE6gH9j".repeat(4).slice(0, 36)}>`],
  ["an entity that nothing finds", "<HARMLESS token:AKIAIOSFODNN7EXAMPLE>"],
])("what looks like a marker and holds %s is classified as the text that it is", (_, forged) => {
  expect(createClassifier().classify(forged).tier).not.toBe("PUBLIC");
});

test("equal cells of a column have equal tokens, and no two sealed values are alike", () => {
  const cells = Array.from({ length: 8 }, () => "ada@example.org");
  const made = redactionKeys(nodeCrypto, new Uint8Array(32).fill(5), seededRandom(6));
  const differentUnder = (operator: "tokenise" | "encrypt") =>
    new Set(redactColumns([{ path: ["contact"], cells }], { ...optionsOf({ operator }), keys: made })[0]?.cells).size;
  expect([differentUnder("tokenise"), differentUnder("encrypt")]).toEqual([1, 8]);
});
