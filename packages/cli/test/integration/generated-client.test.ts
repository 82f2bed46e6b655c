import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Contract, type OpenApiInfo, openapi } from "@seneschal/contract";
import { gatewayContract, gatewayInfo } from "@seneschal/contract/gateway";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import { schedulerContract, schedulerInfo } from "@seneschal/contract/scheduler";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDevProcess } from "../dev-process.ts";

const BIN = fileURLToPath(new URL("../../../../.peers/clients/bin/", import.meta.url));
const PROGRAM = fileURLToPath(new URL("generated-client.py", import.meta.url));
const GENERATOR = join(BIN, "openapi-python-client");

const generator = spawnSync(GENERATOR, ["--version"]).status === 0;
if (!generator) console.warn("no openapi-python-client (tools/install-peers.sh): no Python client is generated and run");

const documents: readonly (readonly [string, Contract, Omit<OpenApiInfo, "version">])[] = [
  ["gateway", gatewayContract, gatewayInfo],
  ["governance", governanceContract, governanceInfo],
  ["scheduler", schedulerContract, schedulerInfo],
  ["storage", storageContract, storageInfo],
];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clients-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(command, args, { cwd: dir, env: { ...process.env, ...env } });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => said.push(String(data)));
  const [code] = await once(child, "close");
  expect(code, said.join("")).toBe(0);
  return said.join("");
}

it.skipIf(!generator)(
  "clients that are generated for Python from the four OpenAPI documents walk the story over mTLS and with tokens",
  async () => {
    for (const [name, contract, info] of documents) {
      await writeFile(join(dir, `${name}.json`), JSON.stringify(openapi(contract, { ...info, version: "1" })));
      await run(GENERATOR, ["generate", "--path", `${name}.json`, "--meta", "none", "--output-path", name]);
    }
    const dev = await openDevProcess();
    try {
      const said = await run(join(BIN, "python"), [PROGRAM, dev.credentials], { PYTHONPATH: dir });
      expect(said).not.toContain("BAD");
      expect(said.match(/^ok /gm)).toHaveLength(13);
    } finally {
      await dev.close();
    }
  },
);
