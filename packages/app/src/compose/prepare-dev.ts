import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Logger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { AdminRole } from "@seneschal/core/keys";
import { checkOptions } from "@seneschal/kernel";
import { devCredentials, devIssuer, serverCertificate } from "../gateway/index.ts";
import { buildGateway } from "../gateway/service.ts";
import { hashKey } from "../governance/api-keys.ts";
import { openBackground } from "../platform/index.ts";
import { devStorageCertificates } from "./dev-storage-certificates.ts";
import { prepareData } from "./prepare-data.ts";
import { type ProcessConfig, processSettings, type ServiceName } from "./process-settings.ts";

/** One role's way in. Paths are absolute. */
export interface DevIdentity {
  readonly id: string;
  readonly cert: string;
  readonly key: string;
  readonly token: string;
}

/** What `DIR/dev/credentials.json` holds. `ca`, `cert` and `key` are paths of PEM files, everywhere in it. */
export interface DevCredentialsFile {
  readonly base_urls: Readonly<Record<string, string>>;
  readonly ca: string;
  /** The audience of operations that are signed for this instance. */
  readonly instance_id: string;
  readonly issuer: string;
  readonly audience: string;
  readonly organizations: Readonly<
    Record<
      string,
      {
        readonly admins: Readonly<Record<AdminRole, DevIdentity>>;
        readonly user: { readonly id: string; readonly token: string };
        readonly scheduler: Readonly<Record<string, { readonly token: string }>>;
        readonly governance: { readonly api_key: string };
      }
    >
  >;
  readonly storage: {
    readonly admin_token: string;
    /** The gRPC data path, `host:port`, and the authority that clients of it trust. */
    readonly data_address: string;
    readonly ca: string;
    /** A certificate with OU `storage-admin`. */
    readonly admin: { readonly cert: string; readonly key: string };
  };
  /** A key of the operator, for an instance that has no organisation yet. */
  readonly governance: { readonly api_key: string };
}

export interface DevOptions {
  readonly dataDir: string;
  /** The gateway listens on `portBase` + 443, governance on 444, the scheduler on 445, storage on 1000, 1090, 1100 and 1300. `any`: wherever the system lets it. */
  readonly portBase: number | "any";
  readonly log: Logger;
  readonly version: string;
  readonly http?: ProcessConfig["http"];
  /** Whose admins to make; none for a story that begins at the beginning. Default two. */
  readonly organizations?: readonly string[];
}

/** Organisations of a development instance. */
const defaultOrganizations = ["acme", "globex"] as const;

const dataOffset = 1100;
const peersOffset = 1300;
const portOffset: Readonly<Record<ServiceName | "s3", number>> = {
  gateway: 443,
  governance: 444,
  scheduler: 445,
  s3: 1000,
  storage: 1090,
};

/** What a development instance is made with, and its credentials: all but the addresses, which are known once it listens. */
export interface PreparedDev {
  readonly config: ProcessConfig;
  readonly credentials: Omit<DevCredentialsFile, "base_urls" | "storage"> & {
    readonly storage: Omit<DevCredentialsFile["storage"], "data_address">;
  };
}

/**
 * Prepares a directory for development: unseal key, certificates from the gateway's own CA, an enrolled admin of every
 * role of two organisations, tokens. Preparing again issues new certificates and tokens for the same identities. Never for
 * production: whoever reads the directory is everybody.
 */
export async function prepareDev(options: DevOptions): Promise<PreparedDev> {
  checkOptions("options", options, {
    dataDir: "string",
    portBase: "any",
    log: "object",
    version: "string",
    http: ["express", "fastify", undefined],
    organizations: "array?",
  });
  const dataDir = resolve(options.dataDir);
  const organizations = options.organizations ?? defaultOrganizations;
  const dir = join(dataDir, "dev");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await prepareData(dataDir, systemRandom);
  const save = async (name: string, text: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };

  const issuer = devIssuer(await readIfThere(join(dir, "issuer-key.pem")));
  await save("issuer-key.pem", issuer.privateKey);
  const publicKey = await save("issuer.pem", issuer.publicKey);
  const storage = await devStorageCertificates("node-1", { random: systemRandom, now: systemClock.now() });
  const storageCa = await save("storage-ca.pem", storage.ca);
  await save("storage-node.pem", storage.node.cert);
  await save("storage-node-key.pem", storage.node.key);
  const storageAdmin = {
    cert: await save("storage-admin.pem", storage.admin.cert),
    key: await save("storage-admin-key.pem", storage.admin.key),
  };
  const secrets = await devSecrets(dir, ["default", ...organizations]);
  const config = (): ProcessConfig =>
    processSettings.parse(settings(dataDir, dir, publicKey, issuer, secrets, options.portBase, options.http));

  // The gateway is its own certificate authority: it is opened once, before anybody listens, to make what TLS needs.
  const metrics = openMetrics({ prefix: "gateway", version: options.version });
  const { gateway: own, auth } = processSettings.parse({ data_dir: dataDir });
  const gateway = await buildGateway(
    { ...own, auth },
    {
      clock: systemClock,
      random: systemRandom,
      log: options.log,
      metrics,
      background: openBackground(options.log, metrics),
      version: options.version,
      health: async () => ({ status: "healthy", ready: true, components: {} }),
      server: () => undefined,
    },
    dataDir,
  );
  const now = systemClock.now();
  try {
    const dev = await devCredentials(gateway.services, { organizations, issuer, now });
    const tls = await serverCertificate(gateway.services, { names: ["localhost", "127.0.0.1", "::1"], now });
    const ca = await save("ca.pem", dev.ca);
    await save("client-ca.pem", dev.clientCa);
    await save("server.pem", tls.cert);
    await save("server-key.pem", tls.key);
    const orgs: Record<string, DevCredentialsFile["organizations"][string]> = {};
    for (const [org, { admins, user }] of Object.entries(dev.organizations)) {
      const identities: Partial<Record<AdminRole, DevIdentity>> = {};
      for (const admin of Object.values(admins)) {
        const name = `${org}-${admin.role.replaceAll("_", "-")}`;
        identities[admin.role] = {
          id: admin.id,
          cert: await save(`${name}.pem`, admin.certificate),
          key: await save(`${name}-key.pem`, admin.private_key),
          token: admin.token,
        };
      }
      const scheduler = (role: string) => ({
        token: issuer.token({ sub: `${role}@${org}`, org, roles: [role], ttl: 30 * 86_400 }, now),
      });
      orgs[org] = {
        admins: identities as Record<AdminRole, DevIdentity>,
        user,
        scheduler: Object.fromEntries(
          ["user", "tenant-admin", "system-admin", "accounting", "auditor", "agent"].map((role) => [role, scheduler(role)]),
        ),
        governance: { api_key: secrets.apiKeys[org] ?? "" },
      };
    }
    const credentials: PreparedDev["credentials"] = {
      ca,
      instance_id: gateway.services.instance,
      issuer: issuer.issuer,
      audience: issuer.audience,
      organizations: orgs,
      storage: {
        admin_token: secrets.adminToken,
        ca: storageCa,
        admin: storageAdmin,
      },
      governance: { api_key: secrets.apiKeys["default"] ?? "" },
    };
    return { config: config(), credentials };
  } finally {
    await gateway.stop?.();
  }
}

function settings(
  dataDir: string,
  dir: string,
  publicKey: string,
  issuer: { readonly issuer: string; readonly audience: string },
  secrets: DevSecrets,
  portBase: DevOptions["portBase"],
  http: DevOptions["http"],
) {
  const port = (offset: number): number => (portBase === "any" ? 0 : portBase + offset);
  const server = (name: ServiceName) => ({
    host: "127.0.0.1",
    port: port(portOffset[name]),
    tls_cert: join(dir, "server.pem"),
    tls_key: join(dir, "server-key.pem"),
  });
  return {
    data_dir: dataDir,
    ...(http === undefined ? {} : { http }),
    auth: {
      mtls: { enabled: true, trusted_ca: join(dir, "client-ca.pem") },
      jwt: { enabled: true, public_key: publicKey, issuer: issuer.issuer, audiences: [issuer.audience] },
    },
    gateway: {
      server: server("gateway"),
      federation: { allowed_targets: ["127.0.0.0/8", "::1"] },
      edges: { allowed_targets: ["127.0.0.0/8", "::1"], allow_http: true },
    },
    governance: {
      server: server("governance"),
      api_keys: Object.entries(secrets.apiKeys).map(([org, key]) => ({
        id: `dev-${org}`,
        org,
        sha256: hashKey(key),
        scopes: ["admin"],
      })),
    },
    scheduler: { server: server("scheduler"), storage: { kind: "level" } },
    storage: {
      server: server("storage"),
      s3: { port: port(portOffset.s3) },
      grpc: {
        address: `127.0.0.1:${port(dataOffset)}`,
        ca: join(dir, "storage-ca.pem"),
        cert: join(dir, "storage-node.pem"),
        key: join(dir, "storage-node-key.pem"),
      },
      cluster: { peer_address: `127.0.0.1:${port(peersOffset)}` },
      admin: { tokens: [{ id: "dev", role: "cluster-admin", sha256: hashKey(secrets.adminToken) }] },
      backup: { directory: join(dataDir, "storage", "backups") },
    },
  };
}

/** Opaque secrets of development; they stay the same over restarts. */
interface DevSecrets {
  readonly adminToken: string;
  readonly apiKeys: Readonly<Record<string, string>>;
}

async function devSecrets(dir: string, organizations: readonly string[]): Promise<DevSecrets> {
  const path = join(dir, "secrets.json");
  const known = JSON.parse((await readIfThere(path)) ?? "{}") as Partial<DevSecrets>;
  const fresh = (prefix: string): string => `${prefix}_${Buffer.from(systemRandom(32)).toString("base64url")}`;
  const secrets: DevSecrets = {
    adminToken: known.adminToken ?? fresh("dev_admin"),
    apiKeys: Object.fromEntries(organizations.map((org) => [org, known.apiKeys?.[org] ?? fresh("dev_key")])),
  };
  await writeFile(path, JSON.stringify(secrets), { mode: 0o600 });
  return secrets;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}
