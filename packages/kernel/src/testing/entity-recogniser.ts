import type { EntityRecogniser } from "../ports/entity-recogniser.ts";
import { refuses, type SuiteRunner } from "./suite.ts";

export interface RecogniserUnderTest {
  open(): Promise<EntityRecogniser>;
  /** A text in which `value` is found as `entity`, once and alone, wherever the text stands: between blanks, behind other sentences. */
  readonly sample: { readonly text: string; readonly value: string; readonly entity: string };
  /** A text in which nothing is found. */
  readonly nothing: string;
}

/** Longer than any window of a model. */
const LONG = 4000;

/**
 * Every law of the EntityRecogniser port as a test.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import type { EntityRecogniser } from "@seneschal/kernel/ports";
 * import { entityRecogniserSuite } from "@seneschal/kernel/testing";
 * const open = async (): Promise<EntityRecogniser> => {
 *   const closed: boolean[] = [];
 *   return {
 *     name: "words",
 *     entities: ["PERSON"],
 *     async recognise(texts) {
 *       if (closed.length > 0) throw Object.assign(new Error("closed"), { code: "service_unavailable" });
 *       return texts.map((text) =>
 *         [...text.matchAll(/\bAda\b/g)].map(({ index }) => ({ entity: "PERSON", start: index, end: index + 3, score: 1 })),
 *       );
 *     },
 *     close: async () => void closed.push(true),
 *   };
 * };
 * entityRecogniserSuite(
 *   { test: (name, body) => void test(name, body), equal: assert.deepStrictEqual },
 *   { open, sample: { text: "we met Ada there", value: "Ada", entity: "PERSON" }, nothing: "we met there" },
 * );
 * ```
 */
export function entityRecogniserSuite(runner: SuiteRunner, subject: RecogniserUnderTest): void {
  const { equal } = runner;
  const { sample, nothing } = subject;
  const law = (name: string, body: (recogniser: EntityRecogniser) => Promise<void>): void =>
    runner.test(name, async () => {
      const recogniser = await subject.open();
      try {
        await body(recogniser);
      } finally {
        await recogniser.close();
      }
    });
  /** What was found, as entity and text. */
  const found = async (recogniser: EntityRecogniser, texts: readonly string[], owner = "acme") =>
    (await recogniser.recognise(texts, owner)).map((spans, i) =>
      spans.map(({ entity, start, end }) => [entity, texts[i]?.slice(start, end)]),
    );
  const expected = [[sample.entity, sample.value]];

  law("what it finds is one of its entities, at its place", async (recogniser) => {
    equal(recogniser.entities.includes(sample.entity), true);
    equal(await found(recogniser, [sample.text]), [expected]);
  });

  law("places are UTF-16 code units, behind characters of two of them as well", async (recogniser) => {
    const texts = ["\u{1f600} ", "\u{1f600}\u{1f600} \u{10ffff} ", "e\u0301 \u{1d4d0} "].map((before) => before + sample.text);
    equal(
      await found(recogniser, texts),
      texts.map(() => expected),
    );
  });

  law("there is an answer for each text, in their order, and none for none", async (recogniser) => {
    equal(await found(recogniser, []), []);
    equal(await found(recogniser, [nothing, sample.text, "", " ", sample.text, nothing]), [[], expected, [], [], expected, []]);
  });

  law("a text is read to its end, and so is each of many", async (recogniser) => {
    const long = Array.from({ length: LONG }, () => nothing).join("\n");
    equal(await found(recogniser, [`${long}\n${sample.text}`]), [expected]);
    const many = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? sample.text : nothing));
    equal(
      await found(recogniser, many),
      many.map((text) => (text === nothing ? [] : expected)),
    );
  });

  law("calls at once are answered as one alone", async (recogniser) => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => found(recogniser, [i % 2 === 0 ? sample.text : nothing], `owner ${i % 3}`)),
    );
    equal(
      answers,
      answers.map((_, i) => [i % 2 === 0 ? expected : []]),
    );
  });

  law("a span lies within its text, is not empty and parts no character, whatever the text", async (recogniser) => {
    const odd = [
      "\u{1f600}",
      `${sample.value}${sample.value}`,
      `${sample.value}\u0301`,
      `\u200b${sample.text}\u200d`,
      `${sample.text}\r\n\t\u2028${sample.text}`,
      sample.text.toUpperCase(),
      "李雷在北京 ".repeat(9),
      "\ufeff",
      "x".repeat(LONG),
      `\u{1f468}\u200d\u{1f469} ${sample.value}\u{1f468}`,
    ];
    const answers = await recogniser.recognise(odd, "acme");
    equal(answers.length, odd.length);
    for (const [i, spans] of answers.entries()) {
      const text = odd[i] ?? "";
      for (const { entity, start, end, score } of spans) {
        const place = JSON.stringify({ text, entity, start, end, score });
        equal(recogniser.entities.includes(entity), true, place);
        equal(start >= 0 && start < end && end <= text.length && score > 0 && score <= 1, true, place);
        equal(
          [start, end].some((at) => partsPair(text, at)),
          false,
          place,
        );
      }
    }
  });

  runner.test("it answers nothing once it is closed", async () => {
    const recogniser = await subject.open();
    await recogniser.close();
    await refuses(runner, "service_unavailable", () => recogniser.recognise([sample.text], "acme"));
  });
}

function partsPair(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
}
