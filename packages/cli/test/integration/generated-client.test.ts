import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { devIssuer } from "@seneschal/app/gateway";
import { type Contract, type OpenApiInfo, openapi } from "@seneschal/contract";
import { gatewayContract, gatewayInfo } from "@seneschal/contract/gateway";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import { schedulerContract, schedulerInfo } from "@seneschal/contract/scheduler";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDevProcess } from "../dev-process.ts";

const BIN = fileURLToPath(new URL("../../../../.peers/clients/bin/", import.meta.url));
const PROGRAM = fileURLToPath(new URL("generated-client.py", import.meta.url));
const EXAMPLES = fileURLToPath(new URL("../../../../examples/", import.meta.url));
const GENERATOR = join(BIN, "openapi-python-client");

const generator = spawnSync(GENERATOR, ["--version"]).status === 0;
if (!generator) console.warn("no openapi-python-client (tools/install-peers.sh): no Python client is generated and run");

/** A module of Go that has what generated clients import, so that no registry is asked. */
const MODULE = fileURLToPath(new URL("../../../../.peers/go-clients/", import.meta.url));
const GO_GENERATOR = fileURLToPath(new URL("../../../../.peers/bin/oapi-codegen", import.meta.url));
const goGenerator = spawnSync(GO_GENERATOR, ["--version"]).status === 0 && existsSync(join(MODULE, "go.sum"));
if (!goGenerator) console.warn("no oapi-codegen (tools/install-peers.sh): no Go client is generated and run");

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

/** Runs a program against two instances, one of which has an organisation of its own; gives how many of its steps went well. */
async function walk(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const [dev, elsewhere] = [await openDevProcess(), await openDevProcess("fastify", ["initech"])];
  try {
    const issuer = devIssuer(await readFile(join(dev.dir, "dev", "issuer-key.pem"), "utf8"));
    const people = [1, 2, 3].map((n) => issuer.token({ ttl: 3600, sub: `custodian-${n}`, org: "acme" }, Date.now()));
    await writeFile(join(dir, "people.json"), JSON.stringify(people));
    const said = await run(command, [...args, dev.credentials, elsewhere.credentials, "people.json"], env);
    expect(said).not.toContain("BAD");
    return said.match(/^ok /gm)?.length ?? 0;
  } finally {
    await Promise.all([dev.close(), elsewhere.close()]);
  }
}

it.skipIf(!generator)(
  "clients that are generated for Python from the four OpenAPI documents walk the story over mTLS and with tokens, with a ceremony, a custodian who enrols and a federation between two instances",
  async () => {
    for (const [name, contract, info] of documents) {
      await writeFile(join(dir, `${name}.json`), JSON.stringify(openapi(contract, { ...info, version: "1" })));
      await run(GENERATOR, ["generate", "--path", `${name}.json`, "--meta", "none", "--output-path", name]);
    }
    expect(await walk(join(BIN, "python"), [PROGRAM], { PYTHONPATH: [dir, EXAMPLES].join(delimiter) })).toBe(33);
  },
);

it.skipIf(!goGenerator)(
  "clients that are generated for Go from the four OpenAPI documents in their form 3.0 walk the story over mTLS and with tokens, with a ceremony, a custodian who enrols and a federation between two instances",
  async () => {
    await cp(MODULE, dir, { recursive: true });
    await cp(fileURLToPath(new URL("generated-client.go", import.meta.url)), join(dir, "main.go"));
    for (const [name, contract, info] of documents) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, `${name}.json`), JSON.stringify(openapi(contract, { ...info, version: "1", form: "3.0" })));
      const settings = {
        package: name,
        output: `${name}/${name}.go`,
        generate: { models: true, client: true },
        // Its names for replies are those of our schemas, and its values of enumerations those of its own types.
        "output-options": { "response-type-suffix": "Reply" },
        compatibility: { "always-prefix-enum-values": true },
      };
      await writeFile(join(dir, `${name}-settings.json`), JSON.stringify(settings));
      await run(GO_GENERATOR, ["-config", `${name}-settings.json`, `${name}.json`]);
    }
    await run("go", ["build", "-o", "walk", "."], { GOFLAGS: "-mod=mod", GOPROXY: "off" });
    expect(await walk(join(dir, "walk"), [])).toBe(34);
  },
);
