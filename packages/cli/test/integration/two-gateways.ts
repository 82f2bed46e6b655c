import { type ChildProcess, execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { type Address, ownAddress } from "../../../../tools/own-address.ts";
import { type PostgresServer, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { run } from "../../src/run.ts";
import { type ScriptedHost, scriptedHost } from "../scripted-host.ts";
import { commandOf, endProcess, startServe } from "./serve-process.ts";

/** Two gateways on one PostgreSQL, of one organisation. */
export interface TwoGateways {
  readonly root: string;
  readonly postgres: PostgresServer;
  readonly addresses: readonly [Address, Address];
  /** The processes, as they run now. */
  readonly serving: readonly ChildProcess[];
  /** Its admin, and whom to trust about the gateways; PEM. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  /** A command of ours that must succeed. */
  cli(...args: string[]): Promise<ScriptedHost>;
  /** Ends a gateway and starts it again, from another checkout where one is named. */
  again(at: 0 | 1, signal: NodeJS.Signals, checkout?: string): Promise<void>;
  destroy(): Promise<void>;
}

/**
 * Starts them with what `configOf` makes of their directory, `names` beside their addresses in the certificate of their ports; where one is named, from
 * another checkout, which prepares the database too.
 */
export async function startTwoGateways(options: {
  readonly configOf: (root: string) => string | Promise<string>;
  readonly names?: readonly string[];
  readonly checkout?: string | undefined;
}): Promise<TwoGateways> {
  const { configOf, names = [], checkout } = options;
  const root = await mkdtemp(join(tmpdir(), "seneschal-two-"));
  const [postgres, ...addresses] = await Promise.all([startPostgres(), ownAddress(), ownAddress()]);
  const env = { ...process.env, SENESCHAL_GATEWAY_DATABASE_URL: postgres.url };
  const children = new Set<ChildProcess>();
  const serving: ChildProcess[] = [];
  const file = join(root, "seneschal.yaml");
  const cli = async (...args: string[]): Promise<ScriptedHost> => {
    const host = scriptedHost({ cwd: root, env });
    const said = args.slice(0, 2).join(" ");
    expect([said, await run(args, host), host.errors]).toEqual([said, 0, []]);
    return host;
  };
  /** By the checkout that they start from: what the database holds then is of its release. */
  const prepare = (...args: string[]): Promise<unknown> =>
    checkout === undefined ? cli(...args) : promisify(execFile)(process.execPath, commandOf(args, checkout), { env });
  const start = async (at: 0 | 1, from = checkout): Promise<void> => {
    const { host, port } = addresses[at] as Address;
    const own = [`gateway.server.host=${host}`, `gateway.server.port=${port}`, `data_dir=${root}/data-${at}`];
    const limit = "gateway.rate_limit.authenticated.limit=100000000";
    serving[at] = await startServe(["serve", "-c", file, "--set", ...own, limit, "log.level=warn"], env, children, from);
  };
  const destroy = async (): Promise<void> => {
    postgres.resume();
    for (const child of children) child.kill("SIGCONT");
    await Promise.all([...children].map((child) => endProcess(child, "SIGKILL")));
    await postgres.destroy();
    await rm(root, { recursive: true, force: true });
  };
  try {
    await writeFile(file, await configOf(root));
    await prepare("init", "--data", join(root, "data-0"));
    const named = [...names, ...addresses.map(({ host }) => host)];
    const who = ["--org", "acme", "--email", "ada@acme.example", "--server-name", ...named, "--out", join(root, "acme")];
    await prepare("bootstrap", ...who, "-c", file, "--set", `data_dir=${root}/data-0`);
    await mkdir(join(root, "data-1"), { mode: 0o700 });
    await cp(join(root, "data-0/unseal.key"), join(root, "data-1/unseal.key"));
    const pem = (name: string): Promise<string> => readFile(join(root, "acme", name), "utf8");
    const tls = { ca: await pem("ca.pem"), cert: await pem("admin.pem"), key: await pem("admin-key.pem") };
    await Promise.all([start(0), start(1)]);
    return {
      root,
      postgres,
      addresses: addresses as unknown as readonly [Address, Address],
      serving,
      tls,
      cli,
      async again(at, signal, from) {
        await endProcess(serving[at], signal);
        await start(at, from);
      },
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}
