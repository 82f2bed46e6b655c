import { Placeholders } from "@seneschal/governance";
import { expect, test } from "vitest";

test("of thousands of placeholders a text names those that stand in it, each once, and never the caller's own", () => {
  const placeholders = new Placeholders(["<PERSON_7> is mine"]);
  for (let i = 0; i < 5000; i++) placeholders.of("PERSON", `person ${i}`);
  expect(placeholders.namesIn("<PERSON_3>, <PERSON_7>, <PERSON_3> and <PERSON_5001>; <PERSON_9999> <CARD_1>")).toEqual([
    "<PERSON_3>",
    "<PERSON_5001>",
  ]);
});

test("a short name for a long value does not make an answer of any length", () => {
  const placeholders = new Placeholders([]);
  const name = placeholders.of("PRIVATE_KEY", "x".repeat(8192));
  expect(placeholders.restore(name.repeat(1000))).toHaveLength(8_192_000);
  expect(() => placeholders.restore(name.repeat(500_000))).toThrow(expect.objectContaining({ code: "upstream_failed" }));
  // Once for each piece of a stream is as much as all at once.
  expect(() => placeholders.restore(name)).toThrow(expect.objectContaining({ code: "upstream_failed" }));
});
