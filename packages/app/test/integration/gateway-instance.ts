import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { sourceCommand } from "../../../../tools/source-options.ts";
import type { Side } from "../gateway/federated.ts";
import type { Answer } from "../gateway/rig.ts";
import { rootKey } from "../gateway/root-key.ts";

/** What a gateway process is started with. */
export interface GatewayStart {
  readonly org: string;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly server: "express" | "fastify";
  /** How long a partner's certificate is good; a year unless said. */
  readonly certificateTtl?: string;
}

/** A gateway in a process of its own, with its organisation's super admin to call it. It keeps its data over kills. */
export interface GatewayInstance extends Omit<Side, "rig"> {
  /** Trust anchor of its server, PEM. */
  ca(): string;
  kill(): Promise<void>;
  /** `checkout`: whose gateway it is, where it is not the one that it began with. */
  start(checkout?: string): Promise<void>;
  /** Stops the process without ending it, and lets it go on: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  destroy(): Promise<void>;
}

/** Starts a gateway, of another checkout where one is named. `inside` is what the command runs in, for example `["ip", "netns", "exec", "a"]`. */
export async function startGateway(
  of: Omit<GatewayStart, "dataDir">,
  { inside = [], checkout }: { readonly inside?: readonly string[]; readonly checkout?: string | undefined } = {},
): Promise<GatewayInstance> {
  const dataDir = mkdtempSync(join(tmpdir(), "seneschal-federation-"));
  const url = `https://${of.host}:${of.port}`;
  let child: ChildProcess | undefined;
  let http: IdentityFetch | undefined;
  let ca = "";

  const start = async (from = checkout): Promise<void> => {
    const script = sourceCommand(new URL("gateway-process.ts", import.meta.url), from);
    const command = [...inside, process.execPath, ...script, JSON.stringify({ ...of, dataDir })];
    const started = spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: started.stdout }).once("line", resolve);
      started.once("exit", (code) => reject(new Error(`the gateway of ${of.org} ended with ${code}`)));
    });
    await http?.close();
    const admin = JSON.parse(line) as { ca: string; cert: string; key: string };
    ca = admin.ca;
    http = mtlsFetch({ ...admin, timeout: 20_000 });
  };

  const kill = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGKILL");
    await ended;
  };

  const call: Side["call"] = async (method, path, body): Promise<Answer> => {
    const response = await (http as IdentityFetch).fetch(url + path, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
    return { status: response.status, body: json ? JSON.parse(text) : undefined, headers: response.headers, text };
  };

  await start();
  const key = await rootKey(call);
  return {
    org: of.org,
    key,
    url,
    call,
    async signed(operation, resource, method, path, body) {
      const name = operation === "federation.init" || operation === "federation.establish" ? "crk_signature" : "signature";
      return call(method, path, { ...body, [name]: await key.sign(operation, resource, body) });
    },
    ca: () => ca,
    start,
    kill,
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    async destroy() {
      await kill();
      await http?.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
