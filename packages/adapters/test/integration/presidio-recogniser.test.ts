import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, heard, redactAs, withHeard } from "@seneschal/governance";
import { entityRecogniserSuite } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHttpRecogniser } from "../../src/recognisers/index.ts";
import { runner } from "../suite-runner.ts";

const PYTHON = fileURLToPath(new URL("../../../../.peers/presidio/bin/python", import.meta.url));
const SERVICE = fileURLToPath(new URL("presidio-service.py", import.meta.url));
const installed = existsSync(PYTHON);
if (!installed) console.warn("no Presidio below .peers: its analyzer is not tried");

/** A name of which no rule of ours knows anything. */
const NAME = "Zorkblat";
const ENTITIES = { PERSON: "PERSON", EMAIL_ADDRESS: "EMAIL_ADDRESS", CREDIT_CARD: "CREDIT_CARD" };

describe.skipIf(!installed)("Presidio's analyzer", () => {
  let child: ChildProcess;
  let url = "";
  beforeAll(async () => {
    child = spawn(PYTHON, [SERVICE, NAME], { stdio: ["ignore", "pipe", "ignore"] });
    const [port] = await once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
    url = `http://127.0.0.1:${port}`;
  }, 120_000);
  afterAll(async () => {
    if (child.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
  });
  const open = (options: { language?: string; entities?: Readonly<Record<string, string | null>> } = {}) =>
    openHttpRecogniser({ url, language: "en", entities: ENTITIES, timeout: 60_000, ...options });

  entityRecogniserSuite(runner, {
    open: async () => open(),
    sample: { text: `lunch with ${NAME} at noon`, value: NAME, entity: "PERSON" },
    nothing: "lunch at noon",
  });

  test("what it finds is told where it stands, whatever characters stand before it", async () => {
    const recogniser = open();
    const before = fc.array(fc.constantFrom("\u{1f600}", "\u{20000}", "e\u0301", "é", "\u200b", "word ", "\r\n"), {
      maxLength: 8,
    });
    const value = fc.constantFrom([NAME, "PERSON"], ["ada@example.org", "EMAIL_ADDRESS"], ["4111111111111111", "CREDIT_CARD"]);
    await fc.assert(
      fc.asyncProperty(before, value, async (characters, [written = "", entity]) => {
        const text = `${characters.join("")} ${written} \u{1f600}`;
        const [spans = []] = await recogniser.recognise([text], "acme");
        expect(spans.filter((span) => span.entity === entity).map(({ start, end }) => text.slice(start, end))).toEqual([written]);
      }),
      { numRuns: 30 },
    );
    await recogniser.close();
  });

  test("what it alone finds is redacted", async () => {
    const recogniser = open();
    const { text } = await heard(recogniser, "acme", async (recognised) =>
      withHeard(recognised, DEFAULT_RECOGNISERS, (recognisers) =>
        redactAs("json", JSON.stringify({ note: `\u{1f600} lunch with ${NAME}` }), {
          policy: DEFAULT_TIER_POLICY,
          recognisers,
          rules: [],
        }),
      ),
    );
    expect(JSON.parse(text)).toEqual({ note: "\u{1f600} lunch with <PERSON>" });
    await recogniser.close();
  });

  test.each([
    ["a language that it does not speak", { language: "xx" }],
    ["entities of which it knows none", { entities: { UNHEARD_OF: "PERSON" } }],
  ])("%s is no answer that nothing was found", async (_, options) => {
    const recogniser = open(options);
    await expect(recogniser.recognise([`lunch with ${NAME}`], "acme")).rejects.toMatchObject({ code: "service_unavailable" });
    await recogniser.close();
  });
});
