import { describe, expect, test } from "vitest";
import { labelledSpans, meaningOfLabel } from "../../src/recognisers/labelled-spans.ts";
import { readModelConfig } from "../../src/recognisers/token-classifier.ts";

const LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"];
const entities = { PER: "PERSON", LOC: "LOCATION" };
const { labels } = readModelConfig(
  JSON.stringify({ id2label: Object.fromEntries(LABELS.map((label, id) => [id, label])) }),
  entities,
);

/** Words of one letter, of which each has the label that is said, `+` before it: one more piece of the same word. */
function spans(...said: readonly string[]) {
  let word = -1;
  const pieces = said.map((label, i) => {
    if (!label.startsWith("+")) word++;
    return { id: 0, start: 2 * i, end: 2 * i + 1, word };
  });
  const logits = said.map((label) => Float32Array.from(LABELS, (each) => (each === label.replace("+", "") ? 9 : 0)));
  return labelledSpans(pieces, (piece) => logits[piece] as Float32Array, labels).map(({ entity, start, end }) => [
    entity,
    start / 2,
    (end - 1) / 2,
  ]);
}

describe("labels of words", () => {
  test.each([
    ["one behind the other are one entity", ["B-PER", "I-PER", "O"], [["PERSON", 0, 1]]],
    [
      "that begin are another one",
      ["B-PER", "B-PER"],
      [
        ["PERSON", 0, 0],
        ["PERSON", 1, 1],
      ],
    ],
    ["inside of nothing are one as well", ["O", "I-PER", "I-PER"], [["PERSON", 1, 2]]],
    [
      "of another entity are another one",
      ["B-PER", "I-LOC"],
      [
        ["PERSON", 0, 0],
        ["LOCATION", 1, 1],
      ],
    ],
    [
      "apart are two",
      ["B-PER", "O", "I-PER"],
      [
        ["PERSON", 0, 0],
        ["PERSON", 2, 2],
      ],
    ],
    ["are those of most of their pieces, and reach over all of them", ["B-PER", "+I-PER", "+O", "O"], [["PERSON", 0, 2]]],
    ["begin nothing in their midst", ["B-PER", "+B-PER"], [["PERSON", 0, 1]]],
    ["of nothing are nothing", ["O", "O"], []],
  ] as const)("%s", (_, said, expected) => {
    expect(spans(...said)).toEqual(expected);
  });

  test("an entity is as likely as all its labels together", () => {
    const logits = Float32Array.from([1, 0.9, 0.9, -9, -9]);
    const [span] = labelledSpans([{ id: 0, start: 0, end: 1, word: 0 }], () => logits, labels);
    expect(span).toMatchObject({ entity: "PERSON", score: expect.closeTo(0.644, 2) });
  });

  test.each([
    ["B-PER", "PER", true],
    ["I-PER", "PER", false],
    ["S-PER", "PER", true],
    ["U-PER", "PER", true],
    ["L-PER", "PER", false],
    ["B_GIVEN_NAME", "GIVEN_NAME", true],
    ["PERSON", "PERSON", false],
    ["I", "I", false],
  ])("%s is of %s", (label, name, begins) => {
    expect(meaningOfLabel(label)).toEqual({ name, begins });
  });

  test.each([
    ["a label that nobody speaks of", { id2label: { 0: "O", 1: "B-ORG" } }, "its label B-ORG"],
    ["a name of every object", { id2label: { 0: "O", 1: "constructor" } }, "its label constructor"],
    ["a gap", { id2label: { 0: "O", 2: "B-PER" } }, "id2label has no 1"],
    ["no labels", {}, "no id2label"],
    ["no length", { id2label: { 0: "O", 1: "B-PER" }, max_position_embeddings: 4 }, "max_position_embeddings"],
  ])("a configuration with %s is refused", (_, config, message) => {
    expect(() => readModelConfig(JSON.stringify(config), entities)).toThrow(message);
  });
});
