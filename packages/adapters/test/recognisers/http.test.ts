import type { ServerResponse } from "node:http";
import { entityRecogniserSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { json, type PresidioStub, startPresidioStub } from "../../../../tools/presidio-stub.ts";
import { openHttpRecogniser } from "../../src/recognisers/index.ts";
import { runner } from "../suite-runner.ts";

const ENTITIES = { PER: "PERSON", LOC: "LOCATION", MISC: null };

describe("a recogniser behind HTTP", () => {
  let stub: PresidioStub;
  beforeAll(async () => {
    stub = await startPresidioStub({ Zorkblat: "PER", Emerald: "LOC" });
  });
  beforeEach(() => stub.answer());
  afterAll(() => stub.close());
  const open = (more: object = {}) =>
    openHttpRecogniser({ url: `${stub.url}/`, language: "en", entities: ENTITIES, timeout: 60_000, ...more });

  entityRecogniserSuite(runner, {
    open: async () => open(),
    sample: { text: "lunch with Zorkblat today", value: "Zorkblat", entity: "PERSON" },
    nothing: "lunch with nobody today",
  });

  test("is asked in Presidio's words, for what is told alone, with its token", async () => {
    const recogniser = open({ token: "secret" });
    await recogniser.recognise(["lunch"], "acme");
    expect(stub.asked.at(-1)).toEqual({ text: "lunch", language: "en", entities: ["PER", "LOC"] });
    expect(stub.headers()["authorization"]).toBe("Bearer secret");
    expect(recogniser.entities).toEqual(["PERSON", "LOCATION"]);
    await recogniser.close();
  });

  const span = { entity_type: "PER", start: 0, end: 3, score: 0.5 };
  test.each([
    ["an object", {}],
    ["no object in the list", [1]],
    ["an entity that was not asked for", [{ ...span, entity_type: "NRP" }]],
    ["a name of every object", [{ ...span, entity_type: "constructor" }]],
    ["a place behind the text", [{ ...span, end: 99 }]],
    ["a place behind it by code points", [{ ...span, end: 8 }], "\u{1f600}\u{1f600}\u{1f600} a b"],
    ["a place before it", [{ ...span, start: -1 }]],
    ["half a place", [{ ...span, start: 0.5 }]],
    ["an empty place", [{ ...span, end: 0 }]],
    ["no place", [{ entity_type: "PER", score: 1 }]],
    ["a score beyond one", [{ ...span, score: 1.5 }]],
    ["a score in words", [{ ...span, score: "high" }]],
  ])("whose answer is or has %s is unavailable", async (_, answer, text = "lunch") => {
    const recogniser = open();
    stub.answer((_, response) => json(response, answer));
    await expect(recogniser.recognise([text], "acme")).rejects.toMatchObject({
      code: "service_unavailable",
      details: { retry_after: 5 },
    });
    await recogniser.close();
  });

  const wrong: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
    ["another status", (response) => response.writeHead(500).end("[]")],
    ["a redirection", (response) => response.writeHead(307, { location: "/analyze" }).end()],
    ["no JSON", (response) => response.writeHead(200).end("[")],
    ["nothing", (response) => response.writeHead(200).end()],
    [
      "an answer that breaks off",
      (response) => response.writeHead(200, { "content-length": 9 }).write("[", () => response.destroy()),
    ],
    ["an answer without end", (response) => response.writeHead(200).end("[".repeat(9_000_000))],
  ];
  test.each(wrong)("that gives %s is unavailable, and its words are not told", async (_, answer) => {
    const recogniser = open();
    stub.answer((_, response) => void answer(response));
    const failure = await recogniser.recognise(["lunch"], "acme").catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "service_unavailable" });
    expect((failure as Error).message).not.toContain("lunch");
    await recogniser.close();
  });

  test("one text that is not answered in time fails the call, whatever the others say", async () => {
    const recogniser = open({ timeout: 300 });
    stub.answer(({ text }, response) => (text === "slow" ? undefined : json(response, [])));
    await expect(recogniser.recognise(["lunch", "slow", "dinner"], "acme")).rejects.toMatchObject({
      code: "service_unavailable",
      message: "the recogniser does not answer in time",
    });
    await recogniser.close();
  });

  test("is asked so many texts at once, of each owner by turns, and no more than its budget", async () => {
    const recogniser = open({ concurrency: 2, waitingPerOwner: 6 });
    let running = 0;
    let most = 0;
    const order: string[] = [];
    stub.answer(({ text }, response) => {
      running++;
      most = Math.max(most, running);
      order.push(text);
      setImmediate(() => {
        running--;
        json(response, []);
      });
    });
    const many = recogniser.recognise(["a1", "a2", "a3", "a4", "a5", "a6"], "a");
    const one = recogniser.recognise(["b1"], "b");
    await expect(recogniser.recognise(["a7", "a8", "a9"], "a")).rejects.toMatchObject({ code: "service_unavailable" });
    await Promise.all([many, one]);
    expect(most).toBeLessThanOrEqual(2);
    expect(order.indexOf("b1")).toBeLessThan(order.indexOf("a5"));
    await recogniser.close();
  });

  test("nobody is there: unavailable", async () => {
    const gone = await startPresidioStub({});
    await gone.close();
    const recogniser = openHttpRecogniser({ url: gone.url, language: "en", entities: ENTITIES });
    await expect(recogniser.recognise(["lunch"], "acme")).rejects.toMatchObject({ code: "service_unavailable" });
    await recogniser.close();
  });
});
