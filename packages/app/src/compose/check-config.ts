import { X509Certificate } from "node:crypto";
import { access, constants, readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { staticKeys } from "@seneschal/adapters/jwt";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import { isLoopback } from "../platform/config/loopback.ts";
import {
  certificatesIn,
  compileLogPolicy,
  keyProblem,
  type NamedFile,
  namedFiles,
  openArchive,
  openAuthorisation,
  tryArchive,
} from "../platform/index.ts";
import { type ProcessConfig, processSettings, type ServiceName } from "./process-settings.ts";
import { servedAlone } from "./served-alone.ts";
import { sealOf } from "./storage-settings.ts";

/** Something that `serve` would refuse (`error`) or that its operator would regret (`warning`). */
export interface Finding {
  readonly severity: "error" | "warning";
  /** Dotted path of the setting. */
  readonly setting: string;
  readonly message: string;
  /** What to do. */
  readonly advice: string;
}

/** What the check may ask of the world. */
export interface CheckOptions {
  /** Milliseconds. */
  readonly now: number;
  /** Whether databases, vaults, issuers and what is scanned are tried; default true. */
  readonly reach?: boolean;
}

const DAY = 86_400_000;
const SOON = 30 * DAY;
const REACH_MS = 3000;

/** Looks at everything that a configuration names: files, certificates and their keys, policies, and who must answer. */
export async function checkConfig(config: ProcessConfig, options: CheckOptions): Promise<readonly Finding[]> {
  checkOptions("options", options, { now: "number", reach: "boolean?" });
  checkArgument("config", config, "object");
  const { now, reach = true } = options;
  const used = namedFiles(processSettings, config).filter(({ setting }) => isUsed(config, setting));
  const findings = await Promise.all([
    ...used.map((file) => checkFile(file, now)),
    ...used.filter(({ holds }) => holds === "certificate").map((file) => checkPair(file, used)),
    checkPlaces(config),
    checkPolicies(config),
    checkTiers(config),
    checkPools(config),
    checkRoom(config),
    ...(reach
      ? [
          ...partiesOf(config).map(checkReach),
          checkArchive(config, "gateway"),
          checkArchive(config, "governance"),
          checkSources(config),
          checkRecogniser(config),
        ]
      : []),
  ]);
  return [...findings.flat(), ...exposures(config), ...crowds(config), ...alone(config), ...plainDestinations(config)];
}

/** Settings of services that are not started, and of ways to log in that are off, are read by nobody. */
function isUsed({ services, auth }: ProcessConfig, setting: string): boolean {
  const [top = "", part = ""] = setting.split(".");
  if (top === "auth") return auth[part as "mtls" | "jwt" | "oidc"].enabled;
  return services.includes(top as ServiceName);
}

const error = (setting: string, message: string, advice: string): Finding => ({ severity: "error", setting, message, advice });
const warning = (setting: string, message: string, advice: string): Finding => ({
  severity: "warning",
  setting,
  message,
  advice,
});

async function checkFile({ setting, path, holds }: NamedFile, now: number): Promise<readonly Finding[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const made = setting.endsWith("tls_cert") || setting.endsWith("tls_key") ? "; seneschal bootstrap makes one" : "";
    return [error(setting, `${path} cannot be read: ${codeOf(cause)}`, `put the file there, readable by this user${made}`)];
  }
  switch (holds) {
    case "certificate":
    case "authorities":
      return checkCertificates(setting, path, text, holds === "authorities", now);
    case "secret":
      return [...(await checkMode(setting, path)), ...checkText(setting, path, text)];
    case "private key": {
      const found = await checkMode(setting, path);
      return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
        ? found
        : [...found, error(setting, `${path} holds no private key in PEM`, "name the key that belongs to the certificate")];
    }
    case "public key":
      try {
        staticKeys(text);
        return [];
      } catch {
        return [error(setting, `${path} holds no public key`, "a PEM key or certificate, or a JWK set")];
      }
    case "unseal key":
      return Buffer.from(text.trim(), "base64").length === 32
        ? []
        : [
            error(
              setting,
              `${path} does not hold 32 bytes in base64`,
              "take the one that init made, from where it was copied to",
            ),
          ];
    case "revocation lists":
      return /-----BEGIN X509 CRL-----/.test(text) ? [] : [error(setting, `${path} holds no revocation list`, "PEM is expected")];
    default:
      return checkText(setting, path, text);
  }
}

function checkText(setting: string, path: string, text: string): readonly Finding[] {
  return text.trim() === "" ? [error(setting, `${path} is empty`, "put there what the setting asks for")] : [];
}

async function checkMode(setting: string, path: string): Promise<readonly Finding[]> {
  const open = ((await stat(path)).mode & 0o077) !== 0;
  return open ? [warning(setting, `${path} can be read by others`, `chmod 600 ${path}`)] : [];
}

/** What names a tier or an entity of data governance. */
async function checkTiers({ services, governance }: ProcessConfig): Promise<readonly Finding[]> {
  if (!services.includes("governance")) return [];
  const { tierPolicyOf } = await import("../governance/index.ts");
  try {
    tierPolicyOf(governance);
    return [];
  } catch (cause) {
    if (!isCoded(cause, "config_invalid")) throw cause;
    const [setting = "", ...why] = cause.message.split(": ");
    return [error(`governance.${setting}`, why.join(": "), "see docs/governance.md for the names there are")];
  }
}

function checkCertificates(setting: string, path: string, text: string, authorities: boolean, now: number): readonly Finding[] {
  const texts = certificatesIn(text);
  if (texts.length === 0) return [error(setting, `${path} holds no certificate in PEM`, "name a file of PEM certificates")];
  return texts.flatMap((pem): Finding[] => {
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(pem);
    } catch {
      return [error(setting, `${path} holds a certificate that cannot be read`, "export it again")];
    }
    const { subject, ca, validFrom, validTo } = certificate;
    const who = `${path}: ${subject.replaceAll("\n", ", ")}`;
    const until = new Date(validTo).toISOString();
    if (Date.parse(validTo) < now) return [error(setting, `${who} ended at ${until}`, "replace it: nobody accepts it")];
    if (Date.parse(validFrom) > now)
      return [error(setting, `${who} is not valid yet`, "check the clock of this machine and the certificate")];
    if (authorities && !ca) return [error(setting, `${who} is no CA`, "name the CA that issues certificates, not one of them")];
    if (Date.parse(validTo) - now < SOON)
      return [warning(setting, `${who} ends at ${until}`, "replace it in time: it is taken in without a restart")];
    return [];
  });
}

/** The setting of the key beside a certificate. */
const keyOf: Readonly<Record<string, string>> = { tls_cert: "tls_key", cert: "key", cert_file: "key_file" };

async function checkPair({ setting, path }: NamedFile, all: readonly NamedFile[]): Promise<readonly Finding[]> {
  const [last = "", ...above] = setting.split(".").reverse();
  const beside = [...above.reverse(), keyOf[last] ?? ""].join(".");
  const key = all.find((file) => file.setting === beside);
  if (key === undefined) return [];
  const [cert, privateKey] = await Promise.all([path, key.path].map((file) => readFile(file, "utf8").catch(() => undefined)));
  if (cert === undefined || privateKey === undefined) return [];
  // What is no key at all is told where files are looked at.
  if (certificatesIn(cert).length === 0 || !/PRIVATE KEY-----/.test(privateKey)) return [];
  const problem = keyProblem(cert, privateKey);
  return problem === undefined
    ? []
    : [error(beside, `${key.path} beside ${path} ${problem}`, "name the two that belong together")];
}

/** Directories that are written to, and the key that opens the embedded vault. */
async function checkPlaces(config: ProcessConfig): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const dir = resolve(config.data_dir);
  if (!(await isWritable(dir))) found.push(error("data_dir", `${dir} cannot be written`, "give it to the user that serves"));
  for (const service of config.services) {
    for (const [name, { path, required }] of Object.entries(config[service].audit_sinks)) {
      if (path === undefined) continue;
      const at = dirname(resolve(path));
      if (await canWrite(at)) continue;
      const say = required ? error : warning;
      found.push(
        say(`${service}.audit_sinks.${name}.path`, `${at} cannot be written`, "make it, and give it to the user that serves"),
      );
    }
  }
  for (const name of ["gateway", "storage"] as const) {
    const seal = sealOf(config[name].vault);
    if (!config.services.includes(name) || seal?.kind !== "key_file" || seal.key_file !== undefined) continue;
    const path = join(dir, "unseal.key");
    found.push(
      ...(await checkFile({ setting: `${name}.vault.key_file`, path, holds: "unseal key", read: "once" }, 0)).map((finding) => ({
        ...finding,
        advice: `seneschal init --data ${config.data_dir} makes it; for data that exists take its own from where it was copied to`,
      })),
    );
  }
  return found;
}

/** Pools of a node alone that could take no chunk, where in a cluster other nodes bring devices too, and those that devices name and nobody makes. */
async function checkPools({ services, storage }: ProcessConfig): Promise<readonly Finding[]> {
  if (!services.includes("storage") || storage.devices.length === 0) return [];
  const { shortPools } = await import("../storage/settings.ts");
  const unknown = storage.devices.flatMap(({ pool }, i) =>
    storage.pools.some(({ id }) => id === pool)
      ? []
      : [
          warning(
            `storage.devices.${i}.pool`,
            `${pool} is no pool of storage.pools`,
            "name one of them, or one that was made while the cluster ran: where it has none of that name serve does not start",
          ),
        ],
  );
  if (storage.cluster.kind === "etcd") return unknown;
  const short = shortPools(storage).map(({ index, found, needed }) =>
    warning(
      `storage.pools.${index}`,
      `a chunk needs ${needed} devices, the pool has ${found}: it takes no object that is larger than what metadata keep`,
      "add devices, or give the pool a durability that fits, such as {copies: 2} or {data: 2, parity: 1}",
    ),
  );
  return [...unknown, ...short];
}

/** Disks that have less room than the devices on them may take. */
async function checkRoom({ services, storage, data_dir }: ProcessConfig): Promise<readonly Finding[]> {
  if (!services.includes("storage")) return [];
  const { deviceList, deviceSetting } = await import("../storage/settings.ts");
  const { overcommittedDisks } = await import("../storage/data/disk-room.ts");
  const list = deviceList(storage, join(resolve(data_dir), "storage"));
  const devices = list.map(({ id, directory, capacity_bytes: capacityBytes }) => ({ id, directory, capacityBytes }));
  return (await overcommittedDisks(devices)).map(({ devices: crowded, promisedBytes, freeBytes }) => {
    const index = list.findIndex(({ id }) => id === crowded[0]);
    const who = crowded.length > 1 ? `${crowded.join(", ")} lie on one disk and` : crowded.join();
    return warning(
      deviceSetting(storage, index, "capacity_bytes"),
      `${who} may take ${promisedBytes} bytes more, ${freeBytes} are free at ${list[index]?.directory}`,
      "name what the disk can hold, or give it more room: pools go by what is free there",
    );
  });
}

/** The archive of audit events is tried as it will be used. */
async function checkArchive(config: ProcessConfig, service: "gateway" | "governance"): Promise<readonly Finding[]> {
  const { archive } = config[service].audit;
  if (archive === undefined || !config.services.includes(service)) return [];
  const setting = `${service}.audit.archive.to.${archive.to.s3 === undefined ? "directory" : "s3"}`;
  try {
    await tryArchive(await openArchive(archive.to));
    return [];
  } catch (cause) {
    const what = archive.to.directory ?? `${archive.to.s3 && new URL(archive.to.s3.endpoint).host} ${archive.to.s3?.bucket}`;
    return [
      error(
        setting,
        `${what} cannot be written and read: ${codeOf(cause)}`,
        "make it, and let the user that serves write, read and list there",
      ),
    ];
  }
}

/** What is scanned is asked as a scan asks it. */
async function checkSources({ services, governance }: ProcessConfig): Promise<readonly Finding[]> {
  if (!services.includes("governance")) return [];
  const { probeSource } = await import("../governance/index.ts");
  const found = await Promise.all(
    Object.entries(governance.sources).map(async ([name, settings]): Promise<readonly Finding[]> => {
      try {
        await probeSource(settings);
        return [];
      } catch (cause) {
        const message = isCoded(cause) ? cause.message : `the source cannot be read: ${codeOf(cause)}`;
        return [
          warning(
            `governance.sources.${name}`,
            message,
            "start it, or mend its address, user or secret; until then no scan of it ends well",
          ),
        ];
      }
    }),
  );
  return found.flat();
}

/** The model that texts are read with is asked about one. */
async function checkRecogniser({ services, governance }: ProcessConfig): Promise<readonly Finding[]> {
  const { recogniser: settings } = governance.classification;
  if (!services.includes("governance") || settings === undefined) return [];
  const { probeRecogniser } = await import("../governance/index.ts");
  const setting = "governance.classification.recogniser";
  try {
    await probeRecogniser(settings);
    return [];
  } catch (cause) {
    const message = isCoded(cause) ? cause.message : `it cannot be opened: ${codeOf(cause)}`;
    return isCoded(cause, "service_unavailable")
      ? [warning(setting, message, "start it, or mend its address; until then nothing is classified or redacted")]
      : [error(setting, message, "mend what it names; serve does not start with it")];
  }
}

async function canWrite(directory: string): Promise<boolean> {
  return access(directory, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Whether a directory can be written, or made where it is to be. */
async function isWritable(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    try {
      await access(at, constants.W_OK);
      return true;
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT" || at === dirname(at)) return false;
    }
  }
}

/** Policies compile here as they would at the start. */
async function checkPolicies(config: ProcessConfig): Promise<readonly Finding[]> {
  const engine = embeddedPolicyEngine();
  const found: Finding[] = [];
  try {
    for (const service of config.services) {
      const source = config[service].authorization_policy;
      if (source === undefined) continue;
      await openAuthorisation({ engine, service, source }).catch((cause: Error) =>
        found.push(error(`${service}.authorization_policy`, cause.message, "seneschal policy check names the place")),
      );
    }
    const mask = config.services.includes("gateway") ? config.gateway.decision_log_policy : undefined;
    if (mask !== undefined)
      await compileLogPolicy(engine, mask).catch((cause: Error & { readonly code?: string }) => {
        // A file that cannot be read is told where files are looked at.
        if (cause.code === "config_invalid")
          found.push(error("gateway.decision_log_policy", cause.message, "seneschal policy check FILE"));
      });
    const sources = [];
    for (const name of config.services.includes("governance") ? config.governance.policy_files : []) {
      const source = await readFile(name, "utf8").catch(() => undefined);
      if (source !== undefined) sources.push({ name, source });
    }
    const result = sources.length === 0 ? undefined : await engine.compile(sources);
    for (const problem of result === undefined || result.ok ? [] : result.problems)
      found.push(
        error("governance.policy_files", `${problem.file}:${problem.row}: ${problem.message}`, "seneschal policy check FILE"),
      );
  } finally {
    await engine.close();
  }
  return found;
}

/** Somebody who must answer, or (`later`) whom others wait for without a start doing so. */
interface Party {
  readonly setting: string;
  readonly later?: boolean;
  readonly host: string;
  readonly port: number;
}

/** Databases, vaults, members of etcd and issuers of a configuration. */
function partiesOf(config: ProcessConfig): readonly Party[] {
  const urls: [string, string | undefined][] = [
    ["auth.oidc.issuer_url", config.auth.oidc.enabled ? config.auth.oidc.issuer_url : undefined],
  ];
  for (const service of config.services) {
    const own = service === "scheduler" ? config.scheduler.storage : config[service].database;
    if (own.kind === "postgres") urls.push([`${service}.${service === "scheduler" ? "storage" : "database"}.url`, own.url]);
  }
  for (const service of ["gateway", "storage"] as const) {
    const { vault } = config[service];
    if (!config.services.includes(service)) continue;
    if (vault.kind === "http") urls.push([`${service}.vault.address`, vault.address]);
    else if (vault.seal?.kind === "transit") urls.push([`${service}.vault.seal.address`, vault.seal.address]);
  }
  if (config.services.includes("scheduler") && config.scheduler.storage.kind === "etcd")
    urls.push(...config.scheduler.storage.endpoints.map((url): [string, string] => ["scheduler.storage.endpoints", url]));
  if (config.services.includes("storage") && config.storage.cluster.kind === "etcd")
    urls.push(...config.storage.cluster.endpoints.map((url): [string, string] => ["storage.cluster.endpoints", url]));
  const usual: Readonly<Record<string, number>> = {
    "https:": 443,
    "http:": 80,
    "postgres:": 5432,
    "postgresql:": 5432,
    "tls:": 6514,
    "tcp:": 601,
  };
  const sinks = config.services.flatMap((service) =>
    Object.entries(config[service].audit_sinks).map(([name, { url }]) => [`${service}.audit_sinks.${name}.url`, url] as const),
  );
  return [...urls, ...sinks].flatMap(([setting, url]) => {
    if (url === undefined || !URL.canParse(url) || url.startsWith("udp:")) return [];
    const { protocol, hostname, port } = new URL(url);
    // A Unix socket of PostgreSQL is named among the parameters.
    return hostname === ""
      ? []
      : [
          {
            setting,
            host: hostname.replace(/^\[|\]$/g, ""),
            port: Number(port || usual[protocol] || 0),
            later: sinks.some(([sink]) => sink === setting),
          },
        ];
  });
}

function checkReach({ setting, host, port, later = false }: Party): Promise<readonly Finding[]> {
  return new Promise((done) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (problem: string | undefined) => () => {
      socket.destroy();
      if (problem === undefined) return done([]);
      const mend = "start it, or mend its address or the network";
      const found = `${host}:${port} ${problem}`;
      done([
        later
          ? warning(setting, found, `${mend}; events wait for it`)
          : error(setting, found, `${mend}; serve waits for it up to start_timeout`),
      ]);
    };
    socket.once("connect", end(undefined));
    socket.once("timeout", end("does not answer"));
    socket.once("error", (cause: NodeJS.ErrnoException) => end(`cannot be reached: ${cause.code ?? "error"}`)());
  });
}

/** Where buckets are copied to in the clear: bodies, and who may read them. */
function plainDestinations({ services, storage }: ProcessConfig): readonly Finding[] {
  if (!services.includes("storage")) return [];
  return storage.replication.destinations.flatMap(({ name, endpoint }, i): Finding[] => {
    const { protocol, hostname } = new URL(endpoint);
    return protocol === "https:" || isLoopback(hostname)
      ? []
      : [warning(`storage.replication.destinations.${i}.endpoint`, `${name} is copied to without TLS`, "use an https endpoint")];
  });
}

/** What listens further than it should, or asks for what nobody can show. */
function exposures({ services, auth, ...config }: ProcessConfig): readonly Finding[] {
  return services.flatMap((service): Finding[] => {
    const { host, tls_cert } = config[service].server;
    if (tls_cert !== undefined) return [];
    const local = isLoopback(host);
    const open = warning(
      `${service}.server.host`,
      `${host} is reached from elsewhere, without TLS`,
      `set ${service}.server.tls_cert and .tls_key`,
    );
    const unasked = warning(
      "auth.mtls.enabled",
      "client certificates are asked for on TLS ports only",
      "set gateway.server.tls_cert and .tls_key",
    );
    return [...(local ? [] : [open]), ...(service === "gateway" && auth.mtls.enabled ? [unasked] : [])];
  });
}

/** More processes in front than there are cores for them: they take turns, and each message between them costs. */
function crowds({ services, ...config }: ProcessConfig): readonly Finding[] {
  const cores = availableParallelism();
  return services.flatMap((service): Finding[] => {
    const { processes } = config[service].server;
    return processes < cores || processes === 0
      ? []
      : [
          warning(
            `${service}.server.processes`,
            `${processes} processes in front and the one behind them share ${cores} cores`,
            `at most ${cores - 1} are of use here`,
          ),
        ];
  });
}

/** Ports that get nothing of the processes in front. */
function alone(config: ProcessConfig): readonly Finding[] {
  return config.services.flatMap((service) =>
    servedAlone(config, service).map((port) =>
      warning(
        `${service}.server.processes`,
        `${port} is served by the one process that holds the store, whatever stands in front of it`,
        "processes in front take the load of the HTTP API alone: without much of that, leave it at 0",
      ),
    ),
  );
}

function codeOf(cause: unknown): string {
  return String((cause as { readonly code?: unknown }).code ?? cause);
}
