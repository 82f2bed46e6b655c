import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { certificateFiles, checkConfig, type ProcessConfig } from "@seneschal/app";
import { type Client, type ClientOptions, client, sealContract } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { isCoded } from "@seneschal/kernel";
import { exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connectTo, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { readConfig } from "../read-config.ts";
import { version } from "../version.ts";
import type { AddCommand } from "./add-command.ts";

/** One thing that was looked at. `unknown`: what it would take to know stands in `advice`. */
interface Diagnosis {
  readonly check: string;
  readonly state: "ok" | "warning" | "error" | "unknown";
  readonly message: string;
  readonly advice?: string;
}

/** `seneschal doctor`: an installation looked over, each thing with what to do; ends with 1 when something is wrong. */
export const addDoctor: AddCommand = (program, { host, result, exit }) => {
  withConnection(
    program
      .command("doctor")
      .description(
        "look at configuration, certificates, clock, disk, versions and, with --url, at the running gateway; as an admin also at log and partners",
      )
      .option("-c, --config <file>", "YAML or JSON file")
      .option("--set <path=value...>", "a setting by its path"),
  ).action(async (options: ConnectionOptions & { config?: string; set?: string[] }) => {
    const config = await readConfig(host, options);
    const now = Date.now();
    const findings = [
      ...(await configuration(config, now)),
      ...(await certificates(config, now)),
      ...(await disks(config)),
      node(process.versions.node, now),
      ...(await running(host, options)),
    ];
    const width = Math.max(...findings.map(({ check }) => check.length));
    const told = findings.map(
      ({ check, state, message, advice }) =>
        `${state.padEnd(7)}  ${check.padEnd(width)}  ${message}${advice === undefined ? "" : `\n${" ".repeat(width + 11)}-> ${advice}`}`,
    );
    result({ findings }, told.join("\n"));
    if (findings.some(({ state }) => state === "error")) exit(exitCode.no);
  });
};

async function configuration(config: ProcessConfig, now: number): Promise<readonly Diagnosis[]> {
  const found = await checkConfig(config, { now });
  if (found.length === 0) return [{ check: "configuration", state: "ok", message: "every file opens, everybody answers" }];
  return found.map(({ severity, setting, message, advice }) => ({
    check: "configuration",
    state: severity,
    message: `${setting}: ${message}`,
    advice,
  }));
}

async function certificates(config: ProcessConfig, now: number): Promise<readonly Diagnosis[]> {
  const files = (await Promise.all(config.services.map((service) => certificateFiles(config, service)))).flat();
  const once = new Map(files.map((file) => [file.setting, file]));
  return [...once.values()]
    .filter(({ notAfter }) => notAfter >= now)
    .map(({ setting, notAfter }) => ({
      check: "certificates",
      state: "ok" as const,
      message: `${setting}: ${Math.floor((notAfter - now) / 86_400_000)} days, until ${new Date(notAfter).toISOString()}`,
    }));
}

const [TIGHT, FULL] = [0.1, 0.05];

async function disks(config: ProcessConfig): Promise<readonly Diagnosis[]> {
  const places = new Set([
    config.data_dir,
    ...(config.gateway.backup.location === undefined ? [] : [config.gateway.backup.location]),
  ]);
  return Promise.all(
    [...places].map(async (place): Promise<Diagnosis> => {
      const at = await existing(resolve(place));
      const { bavail, blocks, bsize } = await statfs(at);
      const free = blocks === 0 ? 1 : bavail / blocks;
      const message = `${place}: ${Math.round(free * 100)} % free (${Math.floor((bavail * bsize) / 2 ** 20)} MiB)`;
      if (free > TIGHT) return { check: "disk", state: "ok", message };
      return {
        check: "disk",
        state: free > FULL ? "warning" : "error",
        message,
        advice: "make room: a full disk stops every write",
      };
    }),
  );
}

async function existing(path: string): Promise<string> {
  const there = await access(path).then(
    () => true,
    () => false,
  );
  return there || path === dirname(path) ? path : existing(dirname(path));
}

/** When the makers of Node stop to mend a release (https://github.com/nodejs/release). The odd ones are for trying. */
const SUPPORT_ENDS: Readonly<Record<string, string>> = { 20: "2026-04-30", 22: "2027-04-30", 24: "2028-04-30", 26: "2029-04-30" };
/** The release to install, with the longest support that is proven. */
const LTS = 24;

/** Whether the release of Node that runs this is still mended; `now` in milliseconds. */
export function node(running: string, now: number): Diagnosis {
  const message = `Node ${running}, seneschal ${version}`;
  const release = Number.parseInt(running, 10);
  const ends = SUPPORT_ENDS[release];
  const advice =
    release % 2 === 1
      ? `Node ${release} is no release with long-term support: install Node ${LTS}`
      : release < 20 || (ends !== undefined && Date.parse(ends) < now)
        ? `Node ${release} has left support and gets no mends: install Node ${LTS}`
        : undefined;
  return advice === undefined
    ? { check: "versions", state: "ok", message }
    : { check: "versions", state: "warning", message, advice };
}

type Gateway = Client<GatewayContract>;

/** What a running gateway says of itself and, to an admin, of its log and its partners. */
async function running(host: Host, options: ConnectionOptions): Promise<readonly Diagnosis[]> {
  if (options.url === undefined && options.as === undefined)
    return [
      {
        check: "gateway",
        state: "unknown",
        message: "not asked",
        advice: "name it with --url, and an admin with --cert and --key",
      },
    ];
  let date: number | undefined;
  try {
    return await connectTo(host, "gateway", options, async (reached) => {
      const fetch: typeof reached.fetch = async (url, init) => {
        const answer = await reached.fetch(url, init);
        date ??= Date.parse(answer.headers.get("date") ?? "");
        return answer;
      };
      const gateway = client(gatewayContract, { ...reached, fetch });
      const known = options.cert !== undefined || options.token !== undefined || options.as !== undefined;
      const vault = await seal({ ...reached, fetch });
      if (vault.some(({ state }) => state === "error")) return [...vault, clock(date)];
      const findings = [...vault, ...(await health(gateway))];
      return [...findings, clock(date), ...(known ? [await log(gateway), ...(await partners(gateway))] : [])];
    });
  } catch (error) {
    return [{ check: "gateway", state: "error", message: textOf(error), advice: "start it, or mend --url and --ca" }];
  }
}

/** How its embedded vault is sealed; nothing where it has none. */
async function seal(reached: ClientOptions): Promise<readonly Diagnosis[]> {
  const told = await client(sealContract, reached)
    .sealStatus()
    .catch(() => undefined);
  if (told === undefined) return [];
  const { type, sealed, progress, t } = told;
  if (!sealed) return [{ check: "vault", state: "ok", message: `open, its seal is ${type}` }];
  return [
    {
      check: "vault",
      state: "error",
      message: `sealed: ${progress} of ${t} shares came`,
      advice: "its operators type seneschal vault unseal, each with a share",
    },
  ];
}

async function health(gateway: Gateway): Promise<readonly Diagnosis[]> {
  // A degraded service answers 503 with the same body, which the client takes for a failure.
  const answer = await gateway.health().catch((error: unknown) => {
    if (isCoded(error) && error.details["status"] === 503) return undefined;
    throw error;
  });
  if (answer === undefined)
    return [
      {
        check: "gateway",
        state: "error",
        message: "degraded, or not ready yet",
        advice: "GET /health names the component; the log says why",
      },
    ];
  const same = answer.version === version;
  const versions: Diagnosis = same
    ? { check: "versions", state: "ok", message: `the gateway is ${answer.version}, as this command` }
    : {
        check: "versions",
        state: "warning",
        message: `the gateway is ${answer.version}, this command ${version}`,
        advice: "use the command of the release that runs",
      };
  const components = Object.entries(answer.components).map(([name, { status }]): Diagnosis => {
    if (status === "healthy") return { check: "gateway", state: "ok", message: name };
    return { check: "gateway", state: "error", message: `${name} is ${status}`, advice: "the log of the gateway says why" };
  });
  return [{ check: "gateway", state: "ok", message: `instance ${answer.instance_id}` }, ...components, versions];
}

const SKEW_MS = 5000;

function clock(theirs: number | undefined): Diagnosis {
  if (theirs === undefined || Number.isNaN(theirs))
    return { check: "clock", state: "unknown", message: "nobody to compare with" };
  const off = Math.abs(Date.now() - theirs);
  const message = `${Math.round(off / 1000)} s from the gateway's`;
  if (off <= SKEW_MS) return { check: "clock", state: "ok", message };
  return {
    check: "clock",
    state: "error",
    message,
    advice: "run a time service on both: tokens and certificates are judged by the clock",
  };
}

async function log(gateway: Gateway): Promise<Diagnosis> {
  try {
    const { valid, accepted_gaps } = await gateway.verifyAudit({ body: {} });
    const but = accepted_gaps.length === 0 ? "" : " but for accepted gaps";
    if (valid) return { check: "log", state: "ok", message: `the audit log is whole${but}` };
    return {
      check: "log",
      state: "error",
      message: "THE AUDIT LOG IS NOT WHOLE",
      advice: "keep a copy of the store, then find who wrote to it: docs/security.md",
    };
  } catch (error) {
    return { check: "log", state: "unknown", message: textOf(error), advice: "ask as an admin who may verify it" };
  }
}

async function partners(gateway: Gateway): Promise<readonly Diagnosis[]> {
  try {
    const { results } = await gateway.federationHealth();
    const all = Object.entries(results);
    if (all.length === 0) return [{ check: "partners", state: "ok", message: "none" }];
    return all.map(([name, { healthy, status }]): Diagnosis => {
      if (healthy) return { check: "partners", state: "ok", message: name };
      const advice = "what is for it waits; seneschal gateway get-federation says more";
      return { check: "partners", state: "warning", message: `${name} is ${status}`, advice };
    });
  } catch (error) {
    return [{ check: "partners", state: "unknown", message: textOf(error), advice: "ask as an admin of an organisation" }];
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
