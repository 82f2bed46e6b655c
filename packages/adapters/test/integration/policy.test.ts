import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opaBuild, opaServerPolicyEngine, opaWasmPolicyEngine } from "@seneschal/adapters/policy";
import { policyEngineSuite } from "@seneschal/core/testing";
import { compile } from "@seneschal/rego";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOpa } from "../policy/find-opa.ts";
import { policies } from "../policy/generate-policies.ts";
import { rounds, runner } from "../suite-runner.ts";

const opa = findOpa();
const where = opa ?? "a real OPA (none is installed: tools/install-opa.sh)";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
}

describe.skipIf(opa === undefined)(`the OPA server engine against ${where}`, () => {
  let server: ChildProcess;
  let url = "";
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = spawn(opa as string, ["run", "--server", "--v1-compatible", "--addr", `127.0.0.1:${port}`, "--log-level", "error"], {
      stdio: "ignore",
    });
    const deadline = performance.now() + 30_000;
    for (;;) {
      const up = await fetch(`${url}/health`).then(
        (response) => response.ok,
        () => false,
      );
      if (up) break;
      if (performance.now() > deadline) throw new Error("the OPA server did not start");
    }
  });
  afterAll(() => {
    server.kill();
  });
  policyEngineSuite(runner, {
    open: async () => opaServerPolicyEngine({ url, timeout: 10_000 }),
    capabilities: { clock: false },
  });
});

describe.skipIf(opa === undefined)(`the wasm engine with bundles of ${where}`, () => {
  policyEngineSuite(runner, {
    open: async () => opaWasmPolicyEngine({ build: opaBuild(opa) }),
    capabilities: { clock: false },
  });
});

describe.skipIf(opa === undefined)(`the embedded engine beside ${where}`, () => {
  test("generated policies have the same documents in both", () => {
    const directory = mkdtempSync(join(tmpdir(), "seneschal-differential-"));
    try {
      fc.assert(
        fc.property(policies(), ({ source, input }) => {
          writeFileSync(join(directory, "p.rego"), source);
          writeFileSync(join(directory, "input.json"), JSON.stringify(input));
          const program = opa as string;
          const args = ["eval", "--v1-compatible", "-f", "json", "-i", "input.json", "-d", "p.rego", "data.p"];
          let theirs: unknown;
          try {
            const text = execFileSync(program, args, { cwd: directory, stdio: ["ignore", "pipe", "ignore"] }).toString();
            theirs = (JSON.parse(text) as { result?: { expressions: { value: unknown }[] }[] }).result?.[0]?.expressions[0]
              ?.value;
          } catch {
            theirs = "refused";
          }
          expect(ours(source, input), source).toEqual(theirs);
        }),
        { numRuns: rounds(60) },
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

function ours(source: string, input: unknown): unknown {
  try {
    const result = compile([{ name: "p.rego", source }]).evaluate("data.p", input);
    return result.kind === "defined" ? result.value : result.kind === "undefined" ? undefined : "refused";
  } catch {
    return "refused";
  }
}
