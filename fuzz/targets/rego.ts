import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { check, compile, RegoCompileError, readJson } from "@seneschal/rego";
import { policies } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import { findOpa } from "../../packages/adapters/test/policy/find-opa.ts";
import { startOpa } from "../../packages/adapters/test/policy/start-opa.ts";
import { type FuzzTarget, law, textOf } from "../target.ts";

let server: Awaited<ReturnType<typeof startOpa>> | undefined;

/** Numbers as doubles, as far as both print them alike. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint" || typeof value === "number") return Number(Number(value).toPrecision(15)) + 0;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** The document of package `p` by OPA; undefined where it refuses or fails. */
async function byOpa(url: string, source: string, input: unknown): Promise<unknown> {
  const send = (method: string, path: string, body: string) =>
    fetch(`${url}${path}`, { method, body, signal: AbortSignal.timeout(20_000) });
  if (!(await send("PUT", "/v1/policies/p", source)).ok) return undefined;
  const answer = await send("POST", "/v1/data/p", JSON.stringify({ input }));
  return answer.ok ? (readJson(await answer.text()) as { readonly result?: unknown }).result : undefined;
}

function compiled(source: string) {
  try {
    return compile([{ name: "p.rego", source }]);
  } catch (error) {
    if (error instanceof RegoCompileError) return undefined;
    throw error;
  }
}

/** Rego as it comes, and policies of a grammar that the bytes choose; beside OPA where one is installed. */
export const target: FuzzTarget = {
  words: [
    "package t\n\n",
    "p if {",
    "}\n",
    " := ",
    "input.x",
    "some x in ",
    "every k, v in ",
    "not ",
    " with input as ",
    "[y | ",
    '$"{',
    "# METADATA\n# title: ",
    "default ",
    "contains ",
    "else := ",
    "f(null)\n",
    "data.t.p",
    " | ",
    "import data.a as b\n",
  ],
  async open() {
    const program = findOpa();
    if (program === undefined) console.log("rego: no OPA to compare with (tools/install-opa.sh)");
    else server = await startOpa(program);
    return () => server?.stop();
  },
  async run(bytes) {
    const text = textOf(bytes);
    const problems = check([{ name: "t.rego", source: text }]);
    for (const { row, col, message } of problems) law(row > 0 && col > 0 && message !== "", "a problem has a place and a text");
    law((compiled(text) === undefined) === problems.length > 0, "what has problems does not compile, all else does");
    compiled(text)?.evaluate("data.t", { x: [1, "a", null] }, { budgets: { ticks: 200_000 } });

    const seed = createHash("sha256").update(bytes).digest().readInt32LE();
    const [policy] = fc.sample(policies(), { seed, numRuns: 1 });
    if (policy === undefined) return;
    const answer = compiled(policy.source)?.evaluate("data.p", policy.input, { exact: true, budgets: { ticks: 50_000_000 } });
    if (answer === undefined || server === undefined) return;
    const theirs = await byOpa(server.url, policy.source, policy.input);
    if (theirs === undefined) return;
    // docs/rego.md: OPA's index may leave out the body that meets the conflict
    if (answer.kind === "error" && answer.code === "eval_conflict_error") return;
    const ours = answer.kind === "defined" ? answer.value : answer;
    law(
      isDeepStrictEqual(plain(ours), plain(theirs)),
      `OPA has the same document: seed ${seed}\n${policy.source}\n${JSON.stringify(policy.input)}\nhere ${JSON.stringify(plain(ours))}\nOPA  ${JSON.stringify(plain(theirs))}`,
    );
  },
};
