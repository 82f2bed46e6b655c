import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPolicyEngine, operatorPolicyEngineSetting, policyEngineSetting } from "../../src/platform/policy-engine.ts";

describe("a policy engine by configuration", () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.authorization}`);
    request.resume();
    request.on("end", () => response.end('{"result":{"allow":true}}'));
  });
  let dir = "";
  let url = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-opa-"));
    await writeFile(join(dir, "token"), "of the server\n");
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("asks an OPA server with its token", async () => {
    const engine = await openPolicyEngine(
      operatorPolicyEngineSetting.parse({ kind: "opa", url, token_file: join(dir, "token") }),
      { threads: 0 },
    );
    try {
      const compiled = await engine.compile([{ name: "p.rego", source: "package p\n\nallow := true\n" }], { owner: "acme" });
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      const answer = await compiled.policy.evaluate(["data", "p"], {}, { now: 0, owner: "acme" });
      expect(answer).toEqual({ kind: "defined", value: { allow: true } });
      expect(asked).toEqual(["PUT Bearer of the server", "POST Bearer of the server"]);
    } finally {
      await engine.close();
    }
  });

  it.each([
    ['r := http.send({"method": "get", "url": "http://169.254.169.254/"})', "rego_type_error"],
    ["r := opa.runtime()", "rego_type_error"],
    ["r := {", "rego_parse_error"],
  ])("sends the server no policy that the embedded engine refuses: %s", async (rule, code) => {
    asked.length = 0;
    const engine = await openPolicyEngine(policyEngineSetting.parse({ kind: "opa", url }), { threads: 0 });
    const sources = [{ name: "p.rego", source: `package p\n\n${rule}\n` }];
    expect(await engine.compile(sources)).toMatchObject({ ok: false, problems: [{ code }] });
    expect(await engine.check(sources)).toMatchObject([{ code }]);
    expect(asked).toEqual([]);
    await engine.close();
  });

  it("runs no policies of organisations in the serving thread: compiled bundles are for the operator's own", () => {
    expect(policyEngineSetting.safeParse({ kind: "wasm" }).success).toBe(false);
    expect(operatorPolicyEngineSetting.parse({ kind: "wasm" })).toEqual({ kind: "wasm", opa: "opa" });
    expect(policyEngineSetting.parse(undefined)).toEqual({ kind: "embedded" });
  });
});
