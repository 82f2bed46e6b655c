import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { compile, readJson } from "@seneschal/rego";
import { policies } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOpa } from "../policy/find-opa.ts";
import { calls, comparable, type Declaration, emptyCalls } from "../policy/generate-calls.ts";
import { graphqlCalls } from "../policy/generate-graphql.ts";
import { startOpa } from "../policy/start-opa.ts";
import { rounds } from "../suite-runner.ts";

const opa = findOpa();

/** Numbers as doubles, members by name: JSON of both readers alike. Digits beyond a double's are a declared difference. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint" || typeof value === "number") return Number(Number(value).toPrecision(15)) + 0;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** Of rules `r`i of `source`, each written as `calls[i]`, those whose value is not what OPA's document of the package has. */
function differences(source: string, calls: readonly string[], documents: Readonly<Record<string, unknown>>): readonly string[] {
  const policy = compile([{ name: "p.rego", source }]);
  return calls.flatMap((call, i) => {
    const answer = policy.evaluate(`data.p.r${i}`, {}, { exact: true });
    const value = answer.kind === "error" ? answer : answer.kind === "defined" ? answer.value : undefined;
    const [here, there] = [plain(value), plain(documents[`r${i}`])];
    return isDeepStrictEqual(here, there) ? [] : [`${call}: here ${JSON.stringify(here)}, OPA ${JSON.stringify(there)}`];
  });
}

describe.skipIf(opa === undefined)(
  `the embedded engine beside ${opa ?? "a real OPA (none is installed: tools/install-opa.sh)"}`,
  () => {
    let server: Awaited<ReturnType<typeof startOpa>>;
    beforeAll(async () => {
      server = await startOpa(opa as string);
    });
    afterAll(() => server.stop());

    const send = async (method: string, path: string, body: string) => {
      const signal = AbortSignal.timeout(60_000);
      const response = await fetch(`${server.url}${path}`, { method, body, signal });
      return { ok: response.ok, body: readJson(await response.text()) as { readonly result?: unknown; readonly code?: string } };
    };

    /** What OPA said last, for a failure's message. */
    let refusal: unknown;
    /** The documents of package `p` by OPA; undefined if it refuses the policy or fails. */
    const theirs = async (source: string, input: unknown): Promise<Readonly<Record<string, unknown>> | undefined> => {
      const put = await send("PUT", "/v1/policies/p", source);
      refusal = put.body;
      if (!put.ok) return undefined;
      const { ok, body } = await send("POST", "/v1/data/p", JSON.stringify({ input }));
      refusal = body;
      return ok ? (body.result as Readonly<Record<string, unknown>>) : undefined;
    };

    test("generated policies that both accept have the same documents in both", async () => {
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(policies(), async ({ source, input }) => {
          let policy: ReturnType<typeof compile>;
          try {
            policy = compile([{ name: "p.rego", source }]);
          } catch {
            return;
          }
          const answer = policy.evaluate("data.p", input, { exact: true, budgets: { ticks: 50_000_000 } });
          const documents = await theirs(source, input);
          if (documents === undefined) return;
          compared += 1;
          expect(plain(answer.kind === "defined" ? answer.value : answer), source).toEqual(plain(documents));
        }),
        { numRuns: rounds(300) },
      );
      expect(compared).toBeGreaterThan(3);
    });

    const listed = (): readonly Declaration[] => {
      const capabilities = execFileSync(opa as string, ["capabilities", "--current"], { maxBuffer: 1e8 }).toString();
      return comparable((JSON.parse(capabilities) as { readonly builtins: readonly Declaration[] }).builtins);
    };

    test("null, false, 0 and what is empty have the same answers in both, in every argument of every builtin", async () => {
      const texts = listed().flatMap(emptyCalls);
      expect(texts.length).toBeGreaterThan(10_000);
      const size = 1_000;
      const different: string[] = [];
      for (let at = 0; at < texts.length; at += size) {
        const some = texts.slice(at, at + size);
        const source = `package p\n\nid(x) := x\n\n${some.map((call, i) => `r${i} := {"v": ${call}}`).join("\n")}\n`;
        const documents = await theirs(source, {});
        if (documents === undefined) throw new Error(`OPA refuses or fails: ${JSON.stringify(refusal)}`);
        different.push(...differences(source, some, documents));
      }
      expect(different).toEqual([]);
    });

    test("builtins have the same answers to odd arguments in both", async () => {
      const functions = listed();
      expect(functions.length).toBeGreaterThan(120);
      await fc.assert(
        fc.asyncProperty(fc.array(calls(functions), { minLength: 50, maxLength: 50, size: "max" }), async (texts) => {
          const source = `package p\n\nid(x) := x\n\n${texts.map((call, i) => `r${i} := {"v": ${call}}`).join("\n")}\n`;
          const documents = await theirs(source, {});
          // OPA makes a number of "007" and cannot write it
          if ((refusal as { readonly code?: string }).code === "internal_error") return;
          if (documents === undefined) throw new Error(`OPA refuses or fails: ${JSON.stringify(refusal)}`);
          expect(differences(source, texts, documents)).toEqual([]);
        }),
        { numRuns: rounds(20) },
      );
    });

    test("graphql documents have the same trees, and are valid, in both", async () => {
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(graphqlCalls(), { minLength: 10, maxLength: 10, size: "max" }), async (calls) => {
          const texts = calls.flat();
          const source = `package p\n\n${texts.map((call, i) => `r${i} := ${call}`).join("\n")}\n`;
          // OPA's library panics on a few, and its server closes the connection
          const documents = await theirs(source, {}).catch((error: unknown) => {
            if (error instanceof TypeError) return "panic" as const;
            throw error;
          });
          if (documents === "panic") return;
          if (documents === undefined) throw new Error(`OPA refuses or fails: ${JSON.stringify(refusal)}`);
          compared += 1;
          expect(differences(source, texts, documents)).toEqual([]);
        }),
        { numRuns: rounds(20) },
      );
      expect(compared).toBeGreaterThan(rounds(20) / 2);
    });
  },
);
