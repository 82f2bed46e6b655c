/**
 * `node --import ./tools/run-source.mjs tools/beside-release.ts CHECKOUT [ROUNDS]`: what an encryption and a decryption of 1 KiB cost the gateway of another checkout, with
 * its dependencies installed, and this one's: processor time with 64 callers in process, over LevelDB, in turns in one run.
 */
import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { serverOptions } from "../bench/bench.ts";

const here = resolve(import.meta.dirname, "..");
const CALLERS = 64;
/** Calls of a round. */
const CALLS = 640;

/** Microseconds of processor a call, of all threads. */
interface Costs {
  readonly encrypt: number;
  readonly decrypt: number;
}

/** The gateway of a checkout, which measures a round for each message. */
async function serveOne(root: string): Promise<void> {
  const load = <M>(path: string): Promise<M> => import(pathToFileURL(join(root, path)).href) as Promise<M>;
  const { openBenchGateway, benchWorkspace, benchCollections } =
    await load<typeof import("../bench/gateway-server.ts")>("bench/gateway-server.ts");
  const { openLevelStore } = await load<typeof import("@seneschal/adapters/level")>("packages/adapters/src/level/index.ts");
  const { decryptItems, encryptItems, gatewaySchema, systemCall } = await load<typeof import("@seneschal/app/gateway")>(
    "packages/app/src/gateway/index.ts",
  );
  const path = mkdtempSync(join(tmpdir(), "seneschal-beside-"));
  process.once("exit", () => rmSync(path, { recursive: true, force: true }));
  const gateway = await openBenchGateway(await openLevelStore({ ...gatewaySchema, collections: benchCollections, path }));
  const { services } = gateway;
  const call = { ...systemCall("system:bench", "acme", Date.now()), requestId: "bench" };
  await services.organizationKeys.ensureKek("acme");
  const id = await benchWorkspace(gateway, call);
  const context = { purpose: "bench" };
  const plain = { text: Buffer.alloc(1024, 7).toString("base64"), context };
  const [sealed = ""] = await encryptItems(services, call, id, [plain]);
  const cost = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.cpuUsage();
    const caller = async (): Promise<void> => {
      for (let n = 0; n < CALLS / CALLERS; n += 1) await work();
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / CALLS;
  };
  process.on("message", async () => {
    const encrypt = await cost(() => encryptItems(services, call, id, [plain]));
    const decrypt = await cost(() => decryptItems(services, call, id, [{ text: sealed, context }]));
    process.send?.({ encrypt, decrypt } satisfies Costs);
  });
  process.once("disconnect", () => process.exit(0));
  process.send?.("ready");
}

/** Starts a checkout's; gives what measures a round of it. */
async function started(root: string): Promise<() => Promise<Costs>> {
  const runSource = pathToFileURL(join(root, "tools/run-source.mjs")).href;
  const child = fork(import.meta.filename, ["--serve", root], {
    cwd: root,
    execArgv: ["--import", runSource, "--conditions=@seneschal/source", ...serverOptions],
  });
  let failed: (error: Error) => void = () => undefined;
  child.once("exit", (code) => failed(new Error(`${root} ended with ${code}`)));
  const answer = (): Promise<unknown> =>
    new Promise((done, no) => {
      failed = no;
      child.once("message", done);
    });
  await answer();
  return () => {
    child.send("round");
    return answer() as Promise<Costs>;
  };
}

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const [first = "", second = "20"] = process.argv.slice(2);
if (first === "--serve") await serveOne(second);
else {
  if (!existsSync(join(first, "bench/gateway-server.ts"))) throw new Error(`no checkout of a release: ${first}`);
  const sides = [await started(resolve(first)), await started(here)] as const;
  const pairs: (readonly [Costs, Costs])[] = [];
  // The first rounds are the compiler's; who goes first changes.
  for (let round = -3; round < Number(second); round += 1) {
    const turned = round % 2 !== 0;
    const one = await sides[turned ? 1 : 0]();
    const other = await sides[turned ? 0 : 1]();
    if (round >= 0) pairs.push(turned ? [other, one] : [one, other]);
  }
  for (const call of ["encrypt", "decrypt"] as const) {
    const [was, is] = ([0, 1] as const).map((side) => middle(pairs.map((pair) => pair[side][call])));
    const ratio = middle(pairs.map(([a, b]) => b[call] / a[call]));
    console.log(
      `${call}: before ${was?.toFixed(0)} µs, now ${is?.toFixed(0)} µs, ratio ${ratio.toFixed(3)} (median of ${pairs.length} pairs)`,
    );
  }
  process.exit(0);
}
