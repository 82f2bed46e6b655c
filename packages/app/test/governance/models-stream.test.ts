import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";
import { cut, type StubModel, startStubModel, stream, textsOf } from "./stub-model.ts";

const CARD = "4111 1111 1111 1111";
const SECRET = "AKIAIOSFODNN7EXAMPLE";
const FILLER = "It was a quiet day by the sea, and nobody had much to say about it. ".repeat(12);

/** The events of an answer, without the last. */
const eventsOf = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: ") && event !== "data: [DONE]")
    .map((event) => JSON.parse(event.slice(6)));
const saidIn = (text: string) =>
  eventsOf(text)
    .flatMap(({ choices = [] }) => choices)
    .map(({ delta, text: said }) => said ?? delta?.content ?? "")
    .join("");

describe.each(servers)("streamed answers on %s", (_, serve) => {
  let rig: Rig;
  let model: StubModel;
  beforeAll(async () => {
    model = await startStubModel();
    rig = await startRig(serve, { settings: { models: { upstream: model.url, hold_back: 64 } } });
  });
  beforeEach(() => {
    model.told.length = 0;
  });
  afterAll(() => Promise.all([rig.stop(), model.close()]));

  const ask = (text: string, path = "chat/completions") => {
    const said = path === "completions" ? { prompt: text } : { messages: [{ role: "user", content: text }] };
    return rig.call("admin", "POST", `/v1/${path}`, { model: "stub-1", stream: true, ...said });
  };

  test.each(["chat/completions", "completions"])("a placeholder comes back however the stream of %s is cut", async (path) => {
    const text = `Dear Ms Okafor, your card ${CARD} was charged; write to ada@example.org. ${FILLER} So long, Ms Okafor 😀`;
    for (const [size, bytes] of [
      [1, 7],
      [3, undefined],
      [1000, 1],
      [5, 4096],
    ] as const) {
      model.told.length = 0;
      model.answer(({ path: to, body }, response) => stream(to, cut(textsOf(body), size), response, bytes));
      const answer = await ask(text, path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/event-stream");
      expect(model.told[0]?.text).not.toMatch(/4111|ada@|Okafor/);
      expect(saidIn(answer.body)).toBe(text);
      expect(answer.body.endsWith("data: [DONE]\n\n")).toBe(true);
      const reasons = eventsOf(answer.body)
        .flatMap(({ choices }) => choices)
        .map(({ finish_reason }) => finish_reason);
      expect(reasons.at(-1)).toBe("stop");
      expect(reasons.slice(0, -1)).not.toContain("stop");
    }
  });

  test("nothing of a secret of a model's own is shown, wherever the stream is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(FILLER.length),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 500 }),
        async (at, size, bytes) => {
          const place = FILLER.lastIndexOf(" ", at) + 1;
          const text = `${FILLER.slice(0, place)}use ${SECRET} or ${CARD} for it ${FILLER.slice(place)}`;
          model.answer(({ path }, response) => stream(path, cut(text, size), response, bytes));
          const { body } = await ask("how?");
          const said = saidIn(body);
          expect(said).not.toMatch(/AKIA|IOSFODNN|EXAMPLE|4111|1111/);
          expect(said.replace(/<\w+>/g, "#")).toBe(text.replace(SECRET, "#").replace(CARD, "#"));
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 40), seed: 25 },
    );
  });

  test("arguments of calls stream as JSON with the caller's values", async () => {
    model.answer((_told, response) => {
      const pieces = ['{"card":"<CRED', "IT_CARD_", '1>","n":', "1}"];
      const event = (delta: object, finish_reason: string | null = null) =>
        `data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta, finish_reason }] })}\r\n\r\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        event({
          role: "assistant",
          tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "pay", arguments: "" } }],
        }),
      );
      for (const piece of pieces) response.write(event({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
      response.end(`${event({}, "tool_calls")}data: [DONE]\n\n`);
    });
    const { body } = await ask(`pay with ${CARD}`);
    const calls = eventsOf(body)
      .flatMap(({ choices }) => choices)
      .flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({ index: 0, id: "c", function: { name: "pay" } });
    expect(JSON.parse(calls.map((call) => call.function?.arguments ?? "").join(""))).toEqual({ card: CARD, n: 1 });
  });

  test("a stream is recorded when it ends, and also when it breaks off; a broken one has no last event", async () => {
    const last = async () => (await rig.call("admin", "GET", "/api/v1/audit?limit=1")).body.records[0];
    model.answer(({ path }, response) => stream(path, [`use ${SECRET}`], response));
    await ask("how?");
    expect(await last()).toMatchObject({ operation_type: "COMPLETION", allowed: true });
    expect((await last()).reasoning).toContain("hidden: ");
    model.answer((_told, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n', () => response.destroy());
    });
    const before = (await last()).id;
    await expect(ask("how?")).rejects.toThrow();
    expect((await last()).operation_type).toBe("COMPLETION");
    expect((await last()).id).not.toBe(before);
  });

  test.each([
    ["is no stream", { "content-type": "application/json" }, "{}", 502],
    ["has an event that is no JSON", { "content-type": "text/event-stream" }, "data: <html>\n\n", 200],
    ["has an event that is no answer", { "content-type": "text/event-stream" }, "data: {}\n\n", 200],
  ])("an answer that %s shows nothing", async (_why, head, text, status) => {
    model.answer((_told, response) => void response.writeHead(200, head).end(text));
    const answer = await ask("hello").catch(() => ({ status: 200, body: "" }));
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toMatch(/html|DONE/);
  });
});
