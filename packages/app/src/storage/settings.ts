import { isAbsolute, join, resolve, sep } from "node:path";
import { webhookKey } from "@seneschal/adapters/webhook";
import { acknowledgeOf, classDurability, type Durability, deviceClasses } from "@seneschal/core/storage";
import * as z from "zod";
import { s3Bucket } from "../platform/config/s3-bucket.ts";
import {
  auditSinksSetting,
  capabilityUrl,
  duration,
  etcdSettings,
  file,
  ranges,
  rateSettings,
  secret,
  serverSettings,
} from "../platform/index.ts";
import { nfsSettings } from "./files/settings.ts";

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "expected 1 to 63 of a-z, 0-9 and hyphen");

const domain = z
  .string()
  .regex(/^(?=.{1,253}$)(?![\d.]+$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/, "expected a DNS name in lower case");

/** Neither is the other, or lies below it: a host is of one of them. */
function areApart(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || !(`.${one}`.endsWith(`.${other}`) || `.${other}`.endsWith(`.${one}`));
}

const durability = z.union([
  z.strictObject({ data: z.int().min(2).max(16), parity: z.int().min(1).max(8) }),
  z.strictObject({ copies: z.int().min(2).max(5) }),
]);

/** Refuses the second of two in a list that have the same name. */
function differing<K extends string>(list: readonly Readonly<Record<K, string>>[], key: K, issues: z.RefinementCtx): void {
  for (const [i, one] of list.entries()) {
    const first = list.findIndex((other) => other[key] === one[key]);
    if (first < i) issues.addIssue({ code: "custom", path: [i, key], message: `${one[key]} is that of ${first} already` });
  }
}

/** Refuses a directory that is, contains or lies in that of a device before it. */
function apart(list: readonly { readonly directory: string }[], issues: z.RefinementCtx): void {
  const places = list.map(({ directory }) => resolve(directory).replace(/\/?$/, sep));
  for (const [i, place] of places.entries()) {
    const other = places.findIndex((before, j) => j < i && (before.startsWith(place) || place.startsWith(before)));
    if (other >= 0)
      issues.addIssue({
        code: "custom",
        path: [i, "directory"],
        message: `is, contains or lies in the directory of ${other}: each device has one of its own`,
      });
  }
}

/** No request carries them from its URL. What is no URL at all is told by another check. */
function hasNoUser(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

/** The settings of a storage node. The environment names of the interface document are read beside them. */
export const storageSettings = z.strictObject({
  server: serverSettings(9090),
  audit_sinks: auditSinksSetting,
  node_id: z.string().min(1).max(128).default("node-1"),
  /** S3 gateway; port 0 takes any. */
  s3: z
    .strictObject({
      host: z.string().min(1).default("127.0.0.1"),
      port: z.int().min(0).max(65_535).default(9000),
      /** Paths of PEM files: both or none. */
      tls_cert: file("certificate").optional(),
      tls_key: file("private key").optional(),
      /** How long a handshake and the head of a request may take. */
      read_timeout: duration("30s"),
      /** How long a body may stand still, on its way in or out. */
      idle_timeout: duration("60s"),
      /** A DNS name below which the first labels of a host are a bucket (virtual-host style). Absent: buckets are in paths alone. */
      domain: domain.optional(),
      /** The same for websites of buckets, on the same port. Absent: there are none. Neither of the two lies below the other. */
      website_domain: domain.optional(),
      /** Takes signatures of Version 2 too, in header, URL and form: HMAC-SHA1 that covers no payload. */
      signature_v2: z.boolean().default(false),
      /** Balancers that speak the PROXY protocol before every connection, by address or CIDR range. */
      proxy_protocol: ranges,
      /** How long logged requests to a bucket wait for others to lie in one object with them. */
      access_log_delay: duration("5m").refine((ms) => ms >= 1000 && ms <= 3_600_000, "expected 1s to 1h"),
      /** Open connections at a time. */
      max_connections: z.int().min(1).max(1_000_000).default(4096),
    })
    .refine((s3) => areApart(s3.domain, s3.website_domain), {
      message: "expected a name that is not, and does not lie below or above, domain",
      path: ["website_domain"],
    })
    .prefault({}),
  nfs: nfsSettings,
  /** Webhooks that buckets may name, `arn:seneschal:sqs::<name>:webhook`, as destinations of their notifications: the same on all nodes. */
  notifications: z
    .strictObject({
      webhooks: z
        .array(
          z.strictObject({
            name,
            /** Whose buckets may name it; for others it does not exist. */
            tenants: z.array(z.string().min(1).max(256)).min(1).max(10_000),
            url: capabilityUrl(/^https?$/).refine(hasNoUser, "expected a URL without user and password"),
            /** As standardwebhooks.com gives it: `whsec_` and the base64 of 24 to 64 bytes. */
            secret: secret().refine((text) => webhookKey(text) !== undefined, "expected whsec_ and the base64 of 24 to 64 bytes"),
            /** How long the receiver may take to acknowledge. */
            timeout: duration("5s").refine((ms) => ms >= 100 && ms <= 300_000, "expected 100ms to 5m"),
          }),
        )
        .max(100)
        .refine((list) => new Set(list.map((one) => one.name)).size === list.length, "expected names that are all different")
        .default([]),
      /** Notifications that may wait for one webhook: of more the oldest are dropped. */
      max_waiting: z.int().min(1).max(10_000_000).default(100_000),
      /** Private addresses that may be called: addresses, ranges or host names. */
      allowed_targets: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  /** S3 servers that buckets may be copied to, `arn:seneschal:replication::<name>:<bucket>`: the same on all nodes. */
  replication: z
    .strictObject({
      destinations: z
        .array(
          s3Bucket.omit({ bucket: true, secret_key: true }).extend({
            name,
            /** Whose buckets may be copied there; for others it does not exist. */
            tenants: z.array(z.string().min(1).max(256)).min(1).max(10_000),
            /** Buckets there that they may name; absent: all that the key reaches, whosever they are. */
            buckets: z.array(z.string().min(1).max(255)).min(1).max(10_000).optional(),
            endpoint: z
              .url({ protocol: /^https?$/ })
              .refine(hasNoUser, "expected a URL without user and password")
              .refine(
                (url) => new URL(url).href === `${new URL(url).origin}/`,
                "expected a URL without path, query and fragment",
              ),
            secret_key_file: file("secret", "at each use"),
            /** How long the server may say nothing. */
            timeout: duration("60s").refine((ms) => ms >= 1000 && ms <= 600_000, "expected 1s to 10m"),
          }),
        )
        .max(100)
        .refine((list) => new Set(list.map((one) => one.name)).size === list.length, "expected names that are all different")
        .default([]),
    })
    .prefault({}),
  /** The gRPC data path: off until TLS files are given. Paths of PEM files; `address` is `host:port`. */
  grpc: z
    .strictObject({
      address: z.string().min(1).default("127.0.0.1:9100"),
      ca: file("authorities").optional(),
      cert: file("certificate").optional(),
      key: file("private key").optional(),
      crl: file("revocation lists").optional(),
      /** Plaintext without authentication, on loopback only: never for production. */
      insecure: z.boolean().default(false),
      /** How long a body may stand still, on its way in or out. */
      idle_timeout: duration("60s"),
      /** Balancers of clients that speak the PROXY protocol before every connection; nodes reach each other without one. */
      proxy_protocol: ranges,
    })
    .prefault({}),
  /** What the nodes of a cluster agree on, and how many they are. */
  cluster: z
    .strictObject({
      /** `level`: a directory, for one node; `etcd`: a quorum, for several, who then share `database` too; `memory` forgets everything at the end. */
      kind: z.enum(["level", "etcd", "memory"]).default("level"),
      ...etcdSettings,
      prefix: z.string().min(1).default("/seneschal/storage"),
      /** Where this node answers other nodes, with the TLS files of `grpc`: `host:port`. */
      peer_address: z.string().min(1).default("127.0.0.1:9300"),
      /** What the others call `peer_address` and the data path's address by, where they listen on every interface. */
      advertise: z.strictObject({ peer: z.string().min(1).optional(), data: z.string().min(1).optional() }).prefault({}),
      /** Nodes that must have joined before the cluster takes writes. */
      nodes: z.int().min(1).max(1000).default(1),
      /** How often a node looks at itself and at the others. */
      sample: duration("10s").refine((ms) => ms >= 100 && ms <= 10_000, "expected 100ms to 10s"),
      /** How long a call to another node may take. */
      timeout: duration("5s"),
    })
    .prefault({}),
  /** Pools; the first takes new data. Durability: default of the class. */
  pools: z
    .array(z.strictObject({ id: name, class: z.enum(deviceClasses), durability: durability.optional() }))
    .min(1)
    .superRefine((list, issues) => differing(list, "id", issues))
    .default([{ id: "default", class: "ssd" }]),
  /** One directory per device; default six below the data directory. SMART data: `<directory>/smart.json`. */
  devices: z
    .array(z.strictObject({ id: name, pool: name, directory: z.string().min(1), capacity_bytes: z.int().min(1 << 20) }))
    .superRefine((list, issues) => {
      differing(list, "id", issues);
      apart(list, issues);
    })
    .default([]),
  /** Directories below which this node may be given devices while it runs; without any it takes none. */
  device_roots: z
    .array(z.string().refine((path) => isAbsolute(path) && path !== "/", "expected an absolute path, not the root"))
    .max(100)
    .default([]),
  admin: z
    .strictObject({
      /** Bearer tokens by the SHA-256 of their text. Without any, operations are closed to all but client certificates. */
      tokens: z
        .array(
          z.strictObject({
            id: z.string().min(1).max(128),
            role: z.enum(["cluster-admin", "sre-on-call", "sre-incident-response"]),
            sha256: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hex digits"),
          }),
        )
        .default([]),
      /** Status and dashboard data may be read without a credential. */
      open_status: z.boolean().default(true),
    })
    .prefault({}),
  /** Rego source in place of `policies/authz/storage.rego`, for the admin interface. */
  authorization_policy: z.string().min(1).optional(),
  /** Where backups go; `backend` is the default of the two when both are given. */
  backup: z
    .strictObject({
      backend: z.enum(["fs", "s3"]).optional(),
      directory: z.string().min(1).optional(),
      s3: s3Bucket.optional(),
      retention_days: z.int().min(1).max(3650).default(7),
      include_data: z.boolean().default(false),
      cleanup_interval: duration("24h"),
    })
    .prefault({}),
  /** Simulated SMART readings over the admin interface: never in production. */
  test_knobs: z.boolean().default(false),
  /** Memory that bodies of clients may take over all of them, and how long a request waits for its part of it. */
  memory: z
    .strictObject({
      budget_bytes: z
        .int()
        .min(64 << 20)
        .default(256 << 20),
      wait: duration("10s"),
    })
    .prefault({}),
  /** How long jobs that are over are remembered; what they did stays in the audit log. */
  job_retention: duration("30d"),
  kek_ttl: duration("60s").refine((ms) => ms >= 5000 && ms <= 300_000, "expected 5s to 300s"),
  meta_soft_limit_pct: z.int().min(1).max(99).default(50),
  meta_hard_limit_pct: z.int().min(1).max(99).default(75),
  rate_limit: z.strictObject({ authenticated: rateSettings(1200, "1m"), anonymous: rateSettings(600, "1m") }).prefault({}),
});

export type StorageConfig = z.output<typeof storageSettings>;

/** The configured devices, or six directories of 1 GiB in the first pool; `directory`: the service's own. */
export function deviceList(config: StorageConfig, directory: string): StorageConfig["devices"] {
  if (config.devices.length > 0) return config.devices;
  // Device ids are the cluster's: nodes that share a log must not give the same ones.
  const prefix = config.cluster.kind === "etcd" ? `${config.node_id}-` : "";
  return Array.from({ length: 6 }, (_, i) => ({
    id: `${prefix}disk-${i}`,
    pool: config.pools[0]?.id ?? "default",
    directory: join(directory, "devices", `disk-${i}`),
    capacity_bytes: 1 << 30,
  }));
}

/** The setting of a member of a device, by its place in the list; `data_dir` for those that no setting says. */
export function deviceSetting({ devices }: StorageConfig, index: number, member: keyof StorageConfig["devices"][number]): string {
  return devices.length > 0 ? `storage.devices.${index}.${member}` : "data_dir";
}

/** The durability that a pool of the settings says. */
export function durabilityOf(setting: NonNullable<StorageConfig["pools"][number]["durability"]>): Durability {
  return "copies" in setting
    ? { kind: "replication", copies: setting.copies }
    : { kind: "ec", data: setting.data, parity: setting.parity };
}

/** The pools whose devices in the settings are too few for a chunk, where no other node brings any. */
export function shortPools({ pools, devices }: Pick<StorageConfig, "pools" | "devices">): readonly {
  readonly index: number;
  readonly found: number;
  readonly needed: number;
}[] {
  return pools.flatMap(({ id, class: deviceClass, durability }, index) => {
    const found = devices.filter(({ pool }) => pool === id).length;
    const needed = acknowledgeOf(durability === undefined ? classDurability[deviceClass] : durabilityOf(durability));
    return found > 0 && found < needed ? [{ index, found, needed }] : [];
  });
}
