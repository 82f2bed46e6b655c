import type { EntityRecogniser, EntitySpan } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  classifyColumnValues,
  classifyTask,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  type Finding,
  heard,
  normalise,
  recognise,
  redactAs,
  tierRank,
  withHeard,
} from "../src/index.ts";

const policy = DEFAULT_TIER_POLICY;

/** A model that knows some words. */
function knowing(words: Readonly<Record<string, string>>, asked: string[] = []): EntityRecogniser {
  return {
    name: "words",
    entities: [...new Set(Object.values(words))],
    async recognise(texts) {
      asked.push(...texts);
      return texts.map((text) =>
        Object.entries(words).flatMap(([word, entity]) => {
          const spans: EntitySpan[] = [];
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
            spans.push({ entity, start: at, end: at + word.length, score: 0.9 });
          return spans;
        }),
      );
    },
    close: async () => undefined,
  };
}

const model = knowing({ Zorkblat: "PERSON", "Quux Industries": "ORGANIZATION" });
const classified = (query: string, recogniser: EntityRecogniser | undefined = model) =>
  heard(recogniser, "acme", async (recognised) =>
    withHeard(recognised, DEFAULT_RECOGNISERS, (recognisers) => classifyTask({ query, context: {} }, { recognisers })),
  ).then((answer) => {
    if ("unknown" in answer) throw new Error("no tables here");
    return answer.result;
  });
const redacted = (format: "text" | "json" | "csv" | "sse", text: string) =>
  heard(model, "acme", async (recognised) =>
    withHeard(recognised, DEFAULT_RECOGNISERS, (recognisers) =>
      redactAs(format, text, { policy, recognisers, rules: [{ entity: "PERSON", operator: "replace" }] }),
    ),
  );

describe("what a recogniser finds", () => {
  const FORMS: Readonly<Record<string, string>> = {
    text: "lunch with Zorkblat at noon",
    json: '{"note": "lunch with Zorkbl\\u0061t", "seats": 2}',
    csv: "what,seats\nlunch with Zorkblat,2\ndinner,3\n",
    sql: "select count(*) from lunches where note = 'with Zorkblat'",
    base64: `payload ${btoa("lunch with Zorkblat at noon, he said, and nobody else came")}`,
    disguised: "lunch with Zork\u200bblat at noon",
  };

  test.each(Object.entries(FORMS))("counts in %s, and without it the text is harmless", async (_, query) => {
    expect((await classified(query)).tags).toContain("PII");
    const alone = classifyTask({ query, context: {} });
    expect("result" in alone && alone.result.tags).not.toContain("PII");
  });

  test("is told with its place, its score and its name", async () => {
    const { findings } = await classified("\u{1f600} lunch with Zorkblat");
    expect(findings).toMatchObject([
      { entity: "PERSON", start: 14, end: 22, score: 0.9, pattern: "recogniser", tier: "CONFIDENTIAL" },
    ]);
  });

  test("counts in columns", async () => {
    const column = { name: "seat_note", values: ["with Zorkblat", "window"] };
    const report = await heard(model, "acme", async (recognised) =>
      withHeard(recognised, DEFAULT_RECOGNISERS, (recognisers) => classifyColumnValues(column, policy, recognisers)),
    );
    expect(report.tier).toBe("CONFIDENTIAL");
    expect(classifyColumnValues(column, policy, DEFAULT_RECOGNISERS).tier).toBe("PUBLIC");
  });

  test.each([
    ["text", "lunch with Zorkblat and ada@example.org"],
    ["json", '{"note": "lunch with Zorkbl\\u0061t", "Zorkblat": 1}'],
    ["csv", 'a,b\n"with ""Zorkblat""",2\nZorkblat,3\n'],
    ["sse", 'data: {"delta": "with Zork"}\n\ndata: {"delta": "blat there"}\n\n'],
  ] as const)("is hidden in %s, and hiding it again changes nothing", async (format, text) => {
    const once = await redacted(format, text);
    expect(once.text).not.toMatch(/Zork|blat/);
    expect((await redacted(format, once.text)).text).toBe(once.text);
  });

  test("is asked of texts with letters alone, each of them once", async () => {
    const asked: string[] = [];
    await classified('{"a": "lunch", "b": ["lunch", 12345, "17:30", ""]}', knowing({ x: "PERSON" }, asked));
    expect(asked.sort()).toEqual([...new Set(asked)]);
    expect(asked).toContain("lunch");
    expect(asked.filter((text) => !/\p{L}/u.test(text))).toEqual([]);
  });
});

describe("a recogniser only adds", () => {
  const pieces = fc.constantFrom(
    "ada@example.org",
    "4111 1111 1111 1111",
    "my ssn is 536-22-8726",
    "Dr. Ada Lovelace",
    "passport 536228726",
    "Siemens AG",
    "lunch",
    " at noon, ",
    "\u{1f600}",
    "\n",
    "李雷",
    "Ｊｏｈｎ",
    "  ",
  );
  const arbitrary = fc.array(pieces, { maxLength: 8 }).chain((parts) => {
    const text = parts.join(" ");
    const { length } = normalise(text).text;
    const span = fc
      .record({
        at: fc.nat(Math.max(0, length - 1)),
        size: fc.integer({ min: 1, max: 30 }),
        entity: fc.constantFrom("PERSON", "ORGANIZATION", "CREDIT_CARD", "LOCATION"),
        score: fc.double({ min: 0.3, max: 1, noNaN: true }),
      })
      .map(({ at, size, ...rest }) => ({ start: at, end: Math.min(length, at + size), ...rest }));
    return fc.record({ text: fc.constant(text), spans: length === 0 ? fc.constant([]) : fc.array(span, { maxLength: 6 }) });
  });
  const readings = ({ entity, alternatives = [] }: Finding) => [
    entity,
    ...alternatives.filter(({ probability }) => probability >= 0.25).map((other) => other.entity),
  ];

  test("findings without it stay, what it says counts at each letter, and nothing overlaps", () => {
    fc.assert(
      fc.property(arbitrary, ({ text, spans }) => {
        const folded = normalise(text);
        const said = new Map([[folded.text, spans as readonly EntitySpan[]]]);
        const entities = ["PERSON", "ORGANIZATION", "CREDIT_CARD", "LOCATION"];
        const before = recognise(text, DEFAULT_RECOGNISERS);
        const after = withHeard({ entities, said }, DEFAULT_RECOGNISERS, (recognisers) => recognise(text, recognisers));
        if ("unheard" in after) throw new Error("it was said");
        for (const finding of before) {
          const same = after.find(({ start, end }) => start === finding.start && end === finding.end);
          expect(readings(same as Finding)).toEqual(expect.arrayContaining(readings(finding)));
          expect(same?.entity).toBe(finding.entity);
        }
        for (const [i, finding] of after.entries()) expect(finding.start).toBeGreaterThanOrEqual(after[i - 1]?.end ?? 0);
        // Of a text without a letter it is not asked.
        for (const { start, end, entity } of /\p{L}/u.test(folded.text) ? spans : [])
          for (let at = start; at < end; at++) {
            if (!/[\p{L}\p{N}]/u.test(folded.text[at] ?? "")) continue;
            const place = folded.start(at);
            const there = after.find((finding) => finding.start <= place && place < finding.end);
            expect(there === undefined ? [] : readings(there)).toContain(entity);
          }
        const everywhere = { get: (asked: string) => (asked === folded.text ? spans : []) } as unknown as typeof said;
        const without = classifyTask({ query: text, context: {} });
        const told = withHeard({ entities, said: everywhere }, DEFAULT_RECOGNISERS, (recognisers) =>
          classifyTask({ query: text, context: {} }, { recognisers }),
        );
        const rank = (answer: typeof told) => ("result" in answer ? tierRank(policy, answer.result.tier) : Number.NaN);
        expect(rank(told)).toBeGreaterThanOrEqual(rank(without));
      }),
      { numRuns: 300 },
    );
  });
});

describe("never as if nothing had been found", () => {
  const answering = (answer: unknown): EntityRecogniser => ({
    name: "odd",
    entities: ["PERSON"],
    recognise: async () => answer as readonly (readonly EntitySpan[])[],
    close: async () => undefined,
  });
  const span = { entity: "PERSON", start: 0, end: 3, score: 0.5 };
  test.each([
    ["no answer for a text", []],
    ["a span behind the text", [[{ ...span, end: 99 }]]],
    ["a span before it", [[{ ...span, start: -1 }]]],
    ["an empty span", [[{ ...span, end: 0 }]]],
    ["a place that is no place", [[{ ...span, start: 0.5 }]]],
    ["a score that is none", [[{ ...span, score: Number.NaN }]]],
    ["a score beyond one", [[{ ...span, score: 1.01 }]]],
    ["an entity that it does not have", [[{ ...span, entity: "ORGANIZATION" }]]],
  ])("%s is a failure", async (_, answer) => {
    await expect(classified("lunch at noon", answering(answer))).rejects.toMatchObject({ code: "classification_failed" });
  });

  test("a recogniser that fails is a failure, as it is", async () => {
    const failing: EntityRecogniser = { ...model, recognise: async () => Promise.reject(new Error("down")) };
    await expect(classified("lunch at noon", failing)).rejects.toThrow("down");
  });
});
