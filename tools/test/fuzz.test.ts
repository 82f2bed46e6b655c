import { describe, expect, test } from "vitest";
import { corpusOf, targetNamed, targetNames } from "../../fuzz/corpus.ts";
import { mutate, numbersFrom } from "../../fuzz/mutate.ts";

describe.each(targetNames())("fuzz target %s", (name) => {
  test("finds nothing in its corpus, nor in nothing", async () => {
    const target = await targetNamed(name);
    const corpus = corpusOf(name);
    expect(corpus.length).toBeGreaterThan(0);
    for (const { file, bytes } of [{ file: "(nothing)", bytes: new Uint8Array() }, ...corpus]) {
      await expect((async () => target.run(bytes))(), file).resolves.toBeUndefined();
    }
  });
});

test("the same seed gives the same mutations", () => {
  const seeds = [new TextEncoder().encode("hello world"), Uint8Array.of(1, 2, 3)];
  const words = [new TextEncoder().encode("word")];
  const list = (seed: number) => {
    const below = numbersFrom(seed);
    return Array.from({ length: 200 }, () => Buffer.from(mutate(seeds, words, below)).toString("hex"));
  };
  expect(list(1)).toEqual(list(1));
  expect(list(1)).not.toEqual(list(2));
});
