import { join } from "node:path";
import { openAdmittedDevice, openDirectoryDevice } from "@seneschal/adapters/devices";
import { makeDirectory, readText } from "@seneschal/adapters/files";
import { targetGuard } from "@seneschal/adapters/http";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openS3Replicas } from "@seneschal/adapters/replicas";
import { readSmartFile } from "@seneschal/adapters/smart";
import type { PortableKeys } from "@seneschal/adapters/vault";
import { openSignedPost } from "@seneschal/adapters/webhook";
import { endpoints } from "@seneschal/contract";
import { storageContract, storageHttpErrors } from "@seneschal/contract/storage";
import {
  type NfsServer,
  type S3Server,
  type S3Settings,
  type ServeGrpc,
  type ServeNfs,
  type ServeS3,
  storageError,
} from "@seneschal/core/storage";
import { CodedError, checkArgument, isCoded } from "@seneschal/kernel";
import type { DocumentStore, ReplicatedLog, Vault } from "@seneschal/kernel/ports";
import {
  type BuiltService,
  databaseCheck,
  inRanges,
  openAuthorisation,
  type Platform,
  type RateLimits,
  type Stoppable,
  storeIdempotency,
  vaultSealer,
} from "../platform/index.ts";
import { createAdminAuth } from "./admin/admin-auth.ts";
import { operationHandlers } from "./admin/operation-handlers.ts";
import type { AdminServices } from "./admin/services.ts";
import { statusHandlers } from "./admin/status-handlers.ts";
import { nodeActor } from "./context.ts";
import type { LocalDevice } from "./data/join-cluster.ts";
import { storageInForce } from "./environment.ts";
import { openNfs } from "./files/open-nfs.ts";
import { checkCertificates, openRevocationFile } from "./grpc/authenticate-peer.ts";
import { type NodePorts, openNodePorts, readDataPathTls } from "./grpc/open-data-path.ts";
import { openBackups } from "./jobs/open-backups.ts";
import { createCredentials } from "./keys/credentials.ts";
import { openStorageNode, type StorageNode } from "./node.ts";
import { openS3 } from "./open-s3.ts";
import { certificateIn, checkKeyPair } from "./own-certificate.ts";
import { refusedSetting } from "./refused-setting.ts";
import type { BucketDestination } from "./replicate/open-replication.ts";
import { deviceList, deviceSetting, durabilityOf, type StorageConfig } from "./settings.ts";
import { shardStore } from "./shard-store.ts";
import { dashboardHandlers } from "./ui/dashboard-handlers.ts";
import { openDashboardAssets } from "./ui/open-dashboard-assets.ts";
import { simulateSmart } from "./watch/simulate-smart.ts";

/** A storage node with its admin interface, as the platform starts it. */
export interface Storage extends BuiltService {
  readonly node: StorageNode;
  readonly admin: AdminServices;
  /** Once started. */
  readonly gateway: () => S3Server | undefined;
  /** Once started, when it is configured. */
  readonly ports: () => NodePorts | undefined;
}

/** What a storage node stands on: a store opened with `storageSchema`, a vault for its keys, a directory of its own. */
export interface StorageParts {
  readonly store: DocumentStore;
  /** Closed with the service. */
  readonly clusterLog: ReplicatedLog;
  readonly vault: Vault & Partial<PortableKeys>;
  readonly vaultFor?: (tenant: string) => Vault;
  readonly directory: string;
  /** Speaks S3. */
  readonly serveS3: ServeS3;
  /** Speaks NFS, where something is exported. */
  readonly serveNfs?: ServeNfs | undefined;
  /** Speaks gRPC, where the data path is configured. */
  readonly serveGrpc?: ServeGrpc | undefined;
}

/** Puts the storage service together: engine, admin interface, dashboard, S3 gateway, gRPC data path. */
export async function openStorage(settings: StorageConfig, platform: Platform, parts: StorageParts): Promise<Storage> {
  checkArgument("settings", settings, "object");
  checkArgument("platform", platform, "object");
  checkArgument("parts", parts, "object");
  const config = storageInForce(settings, process.env);
  const { clock, random, log } = platform;
  const nodeId = config.node_id;
  const { serveS3, serveNfs, serveGrpc } = parts;
  checkArgument("parts.serveS3", serveS3, "function");
  if (config.nfs.exports.length > 0 && serveNfs === undefined)
    throw refusedSetting("storage.nfs.exports", "this process was built without an NFS server");
  // With etcd, PostgreSQL and devices elsewhere nothing else makes it; how full its disk is counts all the same.
  await makeDirectory(parts.directory);
  const list = deviceList(config, parts.directory);
  const devices = localDevices(config, list);
  const directories = new Map(list.map((d) => [d.id, d.directory]));
  let roots = config.device_roots;
  /** What is no device's. */
  const own = [join(parts.directory, "metadata"), join(parts.directory, "cluster-log"), config.backup.directory].filter(
    (path) => path !== undefined,
  );
  const { backup, grpc: data } = config;
  const peerAddress = config.cluster.peer_address;
  const tlsFiles = await readDataPathTls(data);
  if ((tlsFiles !== undefined || data.insecure) && serveGrpc === undefined)
    throw refusedSetting("storage.grpc", "this process was built without a gRPC server");
  const guard = targetGuard(config.notifications.allowed_targets);
  const simulation = config.test_knobs ? simulateSmart(shardStore(parts.store)) : undefined;
  const node = await openStorageNode({
    nodeId,
    address: `${config.server.host}:${config.server.port}`,
    dataAddress: config.cluster.advertise.data ?? data.address,
    ...(tlsFiles === undefined && !data.insecure ? {} : { peerAddress: config.cluster.advertise.peer ?? peerAddress }),
    ...(tlsFiles === undefined ? {} : { peerTls: tlsFiles }),
    peerTimeoutMs: config.cluster.timeout,
    sampleMs: config.cluster.sample,
    expectedNodes: config.cluster.nodes,
    clusterLog: parts.clusterLog,
    store: parts.store,
    clock,
    random,
    crypto: nodeCrypto,
    log,
    vault: parts.vault,
    ...(parts.vaultFor === undefined ? {} : { vaultFor: parts.vaultFor }),
    kekTtlSeconds: config.kek_ttl / 1000,
    devices,
    pools: config.pools.map(({ id, class: deviceClass, durability }) => ({
      id,
      class: deviceClass,
      ...(durability === undefined ? {} : { durability: durabilityOf(durability) }),
    })),
    readSmart: async (device) => {
      const simulated = await simulation?.read(device);
      if (simulated !== undefined) return simulated;
      const directory = directories.get(device) ?? node.cluster.state.devices[device]?.directory;
      return directory === undefined ? undefined : readSmartFile(join(directory, "smart.json"));
    },
    openDevice: ({ taken, ...device }) =>
      openAdmittedDevice({ ...device, roots, taken: [...taken, ...directories.values(), ...own] }),
    backups: await openBackups(backup),
    backupDefaults: { retention_days: backup.retention_days, include_data: backup.include_data },
    backupCleanupMs: backup.cleanup_interval,
    jobRetentionMs: config.job_retention,
    webhooks: new Map(
      config.notifications.webhooks.map(({ name, tenants, url, secret, timeout }) => [
        name,
        { post: openSignedPost({ url, secret, now: () => clock.now(), timeoutMs: timeout, guard }), tenants: new Set(tenants) },
      ]),
    ),
    destinations: await openDestinations(config.replication),
    maxWaitingNotifications: config.notifications.max_waiting,
    metadataDirectory: parts.directory,
    memory: { limitBytes: config.memory.budget_bytes, waitMs: config.memory.wait },
    systemDiskLimits: { soft: config.meta_soft_limit_pct, hard: config.meta_hard_limit_pct },
  });
  const engine = embeddedPolicyEngine();
  const authorisation = await openAuthorisation({
    engine,
    service: "storage",
    source: config.authorization_policy,
    settings: { open_status: config.admin.open_status },
  });
  const revocations =
    data.crl === undefined || tlsFiles === undefined
      ? undefined
      : openRevocationFile(data.crl, { trustedCa: tlsFiles.ca, now: () => clock.now(), provider: nodeCrypto });
  const peers = checkCertificates({
    context: node.context,
    surface: "admin",
    log,
    ...(revocations === undefined ? {} : { revocations }),
  });
  const auth = createAdminAuth(node.context, { tokens: config.admin.tokens, authorisation, peers });
  const credentials = createCredentials(node.context, parts.vault);
  const tls = config.server.tls_cert !== undefined;
  const admin: AdminServices = {
    node,
    health: platform.health,
    auth,
    credentials,
    assets: await openDashboardAssets(),
    tls,
    simulation,
  };
  // One page tells both: what the node counts, and what the platform counts of every service.
  for (const { name } of await platform.metrics.registry.getMetricsAsJSON()) {
    const metric = platform.metrics.registry.getSingleMetric(name);
    if (metric !== undefined) node.metrics.registry.registerMetric(metric);
  }
  let gateway: S3Server | undefined;
  let ports: NodePorts | undefined;
  let nfs: NfsServer | undefined;
  let logging: Stoppable | undefined;
  return {
    node,
    admin,
    gateway: () => gateway,
    ports: () => ports,
    hooks: {
      errors: storageHttpErrors,
      authenticate: (wire) => auth.authenticate(wire),
      authorise: (input) => auth.authorise(input),
      idempotency: storeIdempotency({
        store: parts.store,
        random,
        sealer: vaultSealer(parts.vault, "storage-idempotency"),
        onLost: (error) => log.error({ error }, "an idempotent answer was not kept"),
      }),
    },
    limits: limitsOf(config),
    async reload(next: StorageConfig) {
      const allowed = await authorisation.prepare(next.authorization_policy);
      const secured = await readS3Tls(next.s3);
      if ((secured === undefined) !== (config.s3.tls_cert === undefined))
        throw refusedSetting("storage.s3.tls_cert", "TLS is not turned on or off while it runs");
      const identity = await readDataPathTls(storageInForce(next, process.env).grpc);
      if ((identity === undefined) !== (tlsFiles === undefined))
        throw refusedSetting("storage.grpc.cert", "TLS is not turned on or off while it runs");
      if (identity?.ca !== tlsFiles?.ca && data.crl !== undefined)
        throw refusedSetting("storage.grpc.ca", "beside a revocation list another CA needs a restart");
      return {
        limits: limitsOf(next),
        apply() {
          allowed();
          roots = next.device_roots;
          if (secured !== undefined) gateway?.setSecureContext(secured);
          if (identity === undefined) return;
          for (const server of [ports?.data, ports?.peers]) server?.setSecureContext(identity);
          node.setSecureContext(identity);
        },
      };
    },
    endpoints: (hooks) =>
      endpoints(storageContract, { ...statusHandlers, ...operationHandlers, ...dashboardHandlers }, admin, hooks),
    checks: [
      databaseCheck(parts.store),
      {
        name: "key_manager",
        check: async () => {
          if (!(await node.keys.probe())) throw storageError("KeyManagerUnavailable", "the key manager does not answer");
        },
        required: false,
      },
      {
        name: "devices",
        check: async () => Promise.all(node.devices.ids().map((id) => node.devices.measure(id))),
        required: false,
      },
    ],
    async start() {
      const { host, port } = config.s3;
      const s3Tls = await readS3Tls(config.s3);
      const secured = s3Tls === undefined ? {} : { tls: s3Tls };
      const settings: S3Settings = {
        host,
        port,
        domain: config.s3.domain,
        websiteDomain: config.s3.website_domain,
        signatureV2: config.s3.signature_v2,
        ...secured,
        ...(config.s3.proxy_protocol.length > 0 && { proxyProtocol: inRanges(config.s3.proxy_protocol) }),
        readTimeoutMs: config.s3.read_timeout,
        idleTimeoutMs: config.s3.idle_timeout,
        maxConnections: config.s3.max_connections,
        accessLogDelayMs: config.s3.access_log_delay,
      };
      gateway = await openS3({ settings, node, credentials, authorisation, engine, log, requests: platform.metrics, serveS3 });
      const { background } = node;
      const deliver = gateway.deliverAccessLogs;
      logging = background.every("access logs", Math.min(config.s3.access_log_delay, 5000), () => deliver());
      if (serveNfs !== undefined && config.nfs.exports.length > 0)
        nfs = await openNfs({ config: config.nfs, node, authorisation, log, serveNfs });
      ports = await openNodePorts({ ...data, peerAddress }, node, authorisation, log, tlsFiles, serveGrpc);
      if (ports !== undefined) await announce(node, listening(data.address, ports.data), listening(peerAddress, ports.peers));
      node.start();
    },
    listeners: () => ({
      ...(gateway && { s3: gateway.url }),
      ...(nfs && { nfs: `${config.nfs.host}:${nfs.port}` }),
      ...(ports && { data: listening(data.address, ports.data), peers: listening(peerAddress, ports.peers) }),
    }),
    async stop() {
      await logging?.stop();
      await Promise.all([gateway?.close(), nfs?.close(), ports?.data.close(), ports?.peers.close()]);
      await node.stop();
    },
  };
}

function limitsOf({ rate_limit }: StorageConfig): RateLimits {
  const guarded = { routes: ["openSession"], rate: { limit: 10, window: 60_000 } };
  return { ...rate_limit, guarded };
}

/** The address with the port that the system gave where port 0 was asked for. */
function listening(address: string, { port }: { readonly port: number }): string {
  return address.replace(/:0$/, `:${port}`);
}

/** Tells the cluster the ports that were not known when the node joined. */
async function announce({ cluster, context }: StorageNode, data: string, peers: string): Promise<void> {
  const known = cluster.state.nodes[context.nodeId];
  if (known === undefined) return;
  const { id, address } = known;
  const dataAddress = known.dataAddress.endsWith(":0") ? data : known.dataAddress;
  const peerAddress = known.peerAddress.endsWith(":0") ? peers : known.peerAddress;
  if (dataAddress === known.dataAddress && peerAddress === known.peerAddress) return;
  await cluster.propose({ kind: "node.join", node: { id, address, dataAddress, peerAddress } }, nodeActor);
}

/** The devices of the settings, to be opened once it is known which of them the cluster has. */
function localDevices(config: StorageConfig, list: StorageConfig["devices"]): readonly LocalDevice[] {
  return list.map(({ id, pool, directory, capacity_bytes: capacityBytes }, i) => ({
    id,
    setting: (member) => deviceSetting(config, i, member),
    open: (known) =>
      openDirectoryDevice({ id, directory, capacityBytes, known }).catch((error: unknown) => {
        throw isCoded(error) ? unusable(error, deviceSetting(config, i, "directory")) : error;
      }),
    directory,
    pool,
    class: config.pools.find((p) => p.id === pool)?.class ?? "custom",
    capacityBytes,
  }));
}

/** Why the directory of a device cannot be used, by the name of its setting, and what to do. */
function unusable({ code, message, cause }: CodedError, setting: string): CodedError {
  const why = (cause as NodeJS.ErrnoException | undefined)?.code;
  const advice =
    code === "device_mismatch"
      ? "name the directory that is this device's, or an empty one for a new device"
      : "mount the disk that it was on, and give it to the user that serves; where it is lost, take the device out of the settings: it is given up, and what it held is written again from what is left";
  return new CodedError(
    code,
    `${setting}: ${message}${why === undefined ? "" : ` (${why})`}: ${advice}`,
    { field: setting },
    cause,
  );
}

/** The S3 servers that buckets may be copied to, by name. */
async function openDestinations({ destinations }: StorageConfig["replication"]): Promise<ReadonlyMap<string, BucketDestination>> {
  const opened = new Map<string, BucketDestination>();
  for (const [i, one] of destinations.entries()) {
    const { name, tenants, buckets, endpoint, region, access_key: accessKey, secret_key_file, timeout } = one;
    const secretKey = async (): Promise<string> => {
      const secret = (await readText(secret_key_file)).trim();
      if (secret === "")
        throw refusedSetting(`storage.replication.destinations.${i}.secret_key_file`, `${secret_key_file} is empty`);
      return secret;
    };
    await secretKey();
    const target = await openS3Replicas({ endpoint, region, accessKey, secretKey, timeoutMs: timeout });
    opened.set(name, { target, tenants: new Set(tenants), ...(buckets && { buckets: new Set(buckets) }) });
  }
  return opened;
}

/** Certificate and key of the S3 port. Throws `config_invalid` for two that do not belong together. */
async function readS3Tls({ tls_cert, tls_key }: StorageConfig["s3"]): Promise<S3Settings["tls"]> {
  if (tls_cert === undefined || tls_key === undefined) return undefined;
  const tls = { cert: await readText(tls_cert), key: await readText(tls_key) };
  certificateIn("storage.s3.tls_cert", tls_cert, tls.cert);
  checkKeyPair({ setting: "storage.s3.tls_key", path: tls_key }, tls);
  return tls;
}
