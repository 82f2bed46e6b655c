import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { embeddedPolicyEngine, memoryPolicyEngine, opaServerPolicyEngine } from "@seneschal/adapters/policy";
import type { JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyProblem, PolicySource } from "@seneschal/kernel/ports";
import { policyEngineSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runner } from "../suite-runner.ts";

describe("the embedded engine", () => {
  policyEngineSuite(runner, { open: async () => embeddedPolicyEngine(), capabilities: { clock: true } });

  test("a policy over its budget is an error, not undefined", async () => {
    const engine = embeddedPolicyEngine({ budgets: { ticks: 1_000 } });
    const source = "package p\n\nx if {\n\tsome a in numbers.range(1, 500)\n\tsome b in numbers.range(1, 500)\n\ta + b == 0\n}\n";
    const compiled = await engine.compile([{ name: "p.rego", source }]);
    if (!compiled.ok) throw new Error("must compile");
    const answer = await compiled.policy.evaluate(["data", "p", "x"], {}, { now: 0 });
    expect(answer).toMatchObject({ kind: "error", code: "eval_limit_error" });
  });
});

describe("the memory engine", () => {
  /** The suite's policies, answered by hand. */
  const answer = (sources: readonly PolicySource[], path: readonly string[], input: unknown, data: JsonObject): PolicyAnswer => {
    const constant = /echo := (\d)/.exec(sources[0]?.source ?? "")?.[1];
    if (constant !== undefined) return { kind: "defined", value: Number(constant) };
    const { user, echo } = input as { user: string; echo: never };
    const roles = (data["roles"] ?? {}) as Readonly<Record<string, readonly string[]>>;
    const allow = roles[user]?.includes("admin") === true;
    switch (path.at(-1)) {
      case "allow":
        return { kind: "defined", value: allow };
      case "deny":
        return { kind: "defined", value: allow ? [] : [`${user} is no admin`] };
      case "echo":
        return { kind: "defined", value: echo };
      case "clash":
        return { kind: "error", code: "eval_conflict_error", message: "told to" };
      default:
        return { kind: "undefined" };
    }
  };
  const problems = (sources: readonly PolicySource[]): PolicyProblem[] =>
    sources.flatMap(({ name: file, source }) => {
      if (source.startsWith("package broken")) return [{ code: "rego_parse_error", message: "told to", file, row: 4, col: 1 }];
      return source.startsWith("package unsafe")
        ? [{ code: "rego_unsafe_var_error", message: "told to", file, row: 3, col: 10 }]
        : [];
    });
  policyEngineSuite(runner, {
    open: async () =>
      memoryPolicyEngine({
        packages: (sources) => sources.map(({ source }) => (/^package (\S+)/.exec(source)?.[1] ?? "").split(".")),
        problems,
        answer: (sources, path, input, { data }) => answer(sources, path, input, data ?? {}),
      }),
    capabilities: { clock: false },
  });

  test("what the answer throws is an error answer", async () => {
    const engine = memoryPolicyEngine({
      packages: () => [],
      answer: () => {
        throw new Error("no");
      },
    });
    const compiled = await engine.compile([]);
    if (!compiled.ok) throw new Error("must compile");
    expect(await compiled.policy.evaluate([], {}, { now: 0 })).toMatchObject({ kind: "error", message: "no" });
  });
});

describe("the OPA server engine, when the server fails", () => {
  const source: PolicySource = { name: "p.rego", source: "package p\n\nallow := true\n" };

  /** A server that takes policies and then behaves as told. */
  async function against(behave: (url: string) => string | undefined): Promise<PolicyAnswer> {
    const server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        if (!request.url?.startsWith("/v1/data/")) response.end("{}");
        else {
          const reply = behave(request.url);
          if (reply === undefined) request.socket.destroy();
          else response.end(reply);
        }
      });
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    try {
      const { port } = server.address() as AddressInfo;
      const engine = opaServerPolicyEngine({ url: `http://127.0.0.1:${port}`, maxReply: 1_000 });
      const compiled = await engine.compile([source]);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      return await compiled.policy.evaluate(["data", "p", "allow"], {}, { now: 0 });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  test("a reply without a result is undefined", async () => {
    expect(await against(() => "{}")).toEqual({ kind: "undefined" });
  });

  test("a broken connection is an error", async () => {
    expect(await against(() => undefined)).toMatchObject({ kind: "error", code: "opa_unreachable" });
  });

  test("a reply that is no JSON is an error", async () => {
    expect(await against(() => "<html>")).toMatchObject({ kind: "error", code: "opa_unreachable" });
  });

  test("a reply above the cap is an error", async () => {
    expect(await against(() => JSON.stringify({ result: "x".repeat(2_000) }))).toMatchObject({
      kind: "error",
      code: "opa_unreachable",
    });
  });

  test("an unreachable server says nothing of a policy: ask again", async () => {
    const engine = opaServerPolicyEngine({ url: "http://127.0.0.1:9", timeout: 500 });
    const unavailable = { code: "service_unavailable", details: { retry_after: expect.any(Number) } };
    await expect(engine.compile([source])).rejects.toMatchObject(unavailable);
    await expect(engine.check([source])).rejects.toMatchObject(unavailable);
  });

  describe("what the server holds", () => {
    /** Of an OPA server the part that this is about: which modules it holds. A policy answers when its module is there. */
    const held = new Set<string>();
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      const module = path.replace("/v1/policies/", "");
      if (request.method === "PUT") held.add(module);
      if (request.method === "DELETE") held.delete(module);
      if (request.method === "GET" && !held.has(module)) response.statusCode = 404;
      request.resume();
      request.on("end", () => response.end(held.has(`${path.split("/")[3]}/0`) ? '{"result":true}' : "{}"));
    });
    let url = "";
    beforeAll(async () => {
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    test("is put there again when a server that was started anew has lost it", async () => {
      const engine = opaServerPolicyEngine({ url });
      const compiled = await engine.compile([source]);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      held.clear();
      expect(await compiled.policy.evaluate(["data", "p", "allow"], {}, { now: 0 })).toEqual({ kind: "defined", value: true });
      await engine.close();
      expect([...held]).toEqual([]);
    });

    test("is bounded, and what gave way answers when it is asked", async () => {
      const engine = opaServerPolicyEngine({ url });
      const first = await engine.compile([source]);
      for (let i = 0; i < 1_000; i++) await engine.compile([source]);
      await vi.waitUntil(() => held.size === 1_000, { timeout: 30_000 });
      if (!first.ok) throw new Error(JSON.stringify(first.problems));
      expect(await first.policy.evaluate(["data", "p", "allow"], {}, { now: 0 })).toEqual({ kind: "defined", value: true });
      await vi.waitUntil(() => held.size === 1_000, { timeout: 30_000 });
    });
  });
});
