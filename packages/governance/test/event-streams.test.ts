import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactEventStream, redactEvents } from "../src/index.ts";

const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [{ operator: "drop" as const }] };
const values = ["ada@example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "192.0.2.17", "536-22-8726"];

/** A text cut anywhere. */
const cut = (text: string) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: text.length - 1 }), { maxLength: 12 })
    .map((places) => [0, ...places.sort((a, b) => a - b)].map((from, i, all) => text.slice(from, all[i + 1])));
const talk = fc
  .record({ value: fc.constantFrom(...values), before: fc.constantFrom("it is ", "write to ") })
  .chain(({ value, before }) =>
    cut(`${before}${value} now and then`).map((parts) => ({ parts, left: `${before} now and then` })),
  );

/** Nothing but letters and digits of `left` is there, in their order: what stands beside a value may be hidden too, as an event alone may look like one. */
const isLeftOf = (left: string) => (text: string) => {
  let at = 0;
  for (const character of text.replaceAll(/[^\p{L}\p{N}]/gu, "")) {
    at = left.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
};

/** How a server may say one part: as text, in JSON, in the JSON of one of two that talk by turns. */
const FORMS = {
  text: { say: (part: string) => `data: ${part}\n\n`, heard: (data: string) => data },
  lines: { say: (part: string) => `id: 1\r\ndata: ${part}\r\n\r\n`, heard: (data: string) => data },
  json: {
    say: (part: string) =>
      `event: piece\ndata: ${JSON.stringify({ id: "c1", choices: [{ index: 0, delta: { content: part } }] })}\n\n`,
    heard: (data: string) => JSON.parse(data).choices[0].delta.content,
  },
  turns: {
    say: (part: string) =>
      `data: ${JSON.stringify({ index: 1, delta: "or 4111" })}\n\ndata: {"index":0,\ndata:  "delta":${JSON.stringify(part)}}\n\n`,
    heard: (data: string) => (JSON.parse(data).index === 0 ? JSON.parse(data).delta : ""),
  },
};

/** The data of each event, as WHATWG HTML section 9.2.6 reads it. */
const dataOf = (stream: string): string[] =>
  stream
    .split(/\r\n\r\n|\n\n/)
    .filter((event) => /^data/m.test(event))
    .map((event) =>
      event
        .split(/\r\n|\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).replace(/^ /, ""))
        .join("\n"),
    );

test("a value that is cut into events is hidden in each, and every event stays, whatever says them", () => {
  fc.assert(
    fc.property(talk, fc.constantFrom(...Object.values(FORMS)), ({ parts, left }, { say, heard }) => {
      const given = parts.map(say).join("");
      const { text } = redactEvents(given, options);
      expect(dataOf(text)).toHaveLength(dataOf(given).length);
      expect(dataOf(text).map(heard).join("")).toSatisfy(isLeftOf(left));
    }),
  );
});

test("a stream hides the same however its chunks are cut, and holds no event back that has enough behind it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(talk, { minLength: 3, maxLength: 8 }),
      fc.constantFrom(...Object.values(FORMS)),
      fc.integer({ min: 1, max: 90 }),
      async (talks, { say, heard }, size) => {
        const given = talks.flatMap(({ parts }) => parts.map(say)).join("");
        const chunks = async function* () {
          for (let at = 0; at < given.length; at += size) yield given.slice(at, at + size);
        };
        let text = "";
        for await (const events of redactEventStream(chunks(), { ...options, holdBack: 40 })) text += events;
        expect(dataOf(text).map(heard).join("")).toSatisfy(isLeftOf(talks.map(({ left }) => left).join("")));
      },
    ),
    { numRuns: 40 },
  );
});

test("a stream goes on while it comes", async () => {
  let told = 0;
  let asked = 0;
  const chunks = async function* () {
    for (; asked < 400; asked++) yield `data: word number ${asked}, as text goes on \n\n`;
  };
  for await (const events of redactEventStream(chunks(), options)) {
    told += dataOf(events).length;
    // What is held is bounded by what is read with it, twice over.
    expect(asked - told).toBeLessThan(100);
  }
  expect(told).toBe(400);
});

test("every line of an event is searched, whatever it is called", () => {
  const given = ": ada@example.org\nid: ada@example.org\nevent:ada@example.org\nx: ada@example.org\nada@example.org\ndata\n\n";
  expect(redactEvents(given, options).text).toBe(": \nid: \nevent:\nx: \n\ndata\n\n");
});

test("of a value in parts no mask leaves a part", () => {
  const rules = [{ operator: "mask" as const, keepLast: 4 }];
  const { text } = redactEvents("data: card 4111 1111 11\n\ndata: 11 1111 ok\n\n", { ...options, rules });
  expect(text).toBe("data: card **** **** **\n\ndata: ** **** ok\n\n");
});

test("work grows with a stream, and not with its square: JSON that is deep, in many lines, or cut into many events", () => {
  const deep = `data: ${"[1,".repeat(30_000)}${"]".repeat(30_000)}\n\n`;
  const lines = `data: [\n${"data: 1,\n".repeat(30_000)}data: 1]\n\n`;
  const many = 'data: {"a":"b"}\n\n'.repeat(10_000);
  for (const given of [deep.replaceAll(",]", "]"), lines, many]) expect(redactEvents(given, options).text).toBe(given);
});

test("what a stream is about says what its members hold, as the name of a table does", async () => {
  const about = "hr.patients";
  const stream = `data: ${JSON.stringify({ race: "quoro", n: 1 })}\n\n`;
  expect(redactEvents(stream, options).text).toBe(stream);
  expect(redactEvents(stream, { ...options, about }).text).not.toContain("quoro");
  async function* chunks() {
    yield stream;
  }
  let told = "";
  for await (const events of redactEventStream(chunks(), { ...options, about })) told += events;
  expect(told).toBe(redactEvents(stream, { ...options, about }).text);
});
