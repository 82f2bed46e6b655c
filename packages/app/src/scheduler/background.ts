import { httpAccounting, openUsageBuffer } from "@seneschal/adapters/accounting";
import { readText } from "@seneschal/adapters/files";
import type { Logger } from "@seneschal/adapters/logging";
import type { LocalRunner } from "@seneschal/adapters/runner";
import { openWebhook } from "@seneschal/adapters/webhook";
import type { AdminServiceServer, ServeAdminService } from "@seneschal/contract/scheduler";
import { inRanges, type Repeat, type Background as Steps } from "../platform/index.ts";
import { type AccountingLink, accountingLink } from "./budget/accounting.ts";
import { budgetNotifications } from "./events/notify-budgets.ts";
import type { SchedulerMetrics } from "./metrics.ts";
import { adminHandlers, type Door } from "./rpc.ts";
import { type LocalAgent, runLocally } from "./runner/run-locally.ts";
import type { SchedulerServices } from "./services.ts";
import type { SchedulerConfig } from "./settings.ts";

export interface BackgroundOptions {
  readonly services: SchedulerServices;
  readonly door: Door;
  readonly counts: SchedulerMetrics;
  readonly newId: () => string;
  readonly log: Logger;
  readonly steps: Steps;
  readonly runner: LocalRunner | undefined;
  readonly repeat: Repeat;
  readonly serveAdminService: ServeAdminService | undefined;
}

/** Everything that goes on beside requests. */
export interface Background {
  start(): Promise<void>;
  /** Where the RPC server listens, once started. */
  listeners(): Readonly<Record<string, string>>;
  /** What the RPC server shows new connections from now on, PEM. */
  setSecureContext(tls: RpcTls): void;
  stop(): Promise<void>;
}

type RpcTls = { readonly cert: string; readonly key: string };

/** Certificate and key of the service's ports; nothing without TLS. */
export async function readRpcTls({ server }: Pick<SchedulerConfig, "server">): Promise<RpcTls | undefined> {
  const { tls_cert: cert, tls_key: key } = server;
  return cert === undefined || key === undefined ? undefined : { cert: await readText(cert), key: await readText(key) };
}

const HEARTBEAT_FLUSH_MS = 10_000;
const NOTIFY_MS = 5000;
const ARCHIVE_MS = 60_000;
const SPACE_MS = 15_000;
/** A third of what a lease runs. */
const NAME_MS = 1500;

/** The cycle, heartbeats, notifications, accounting, the local runner and the RPC server, as far as they are configured. */
export function background(options: BackgroundOptions): Background {
  const { services, counts, newId, log, repeat, steps } = options;
  const { config, quotas, clock, cycle, heartbeats, nodeId, holder } = services;
  const stops: (() => Promise<unknown>)[] = [];
  let grpc: string | undefined;
  let rpc: AdminServiceServer | undefined;
  const again = (step: string, ms: number, work: () => Promise<unknown>): void => {
    const loop = steps.every(step, ms, work, repeat);
    stops.push(() => loop.stop());
  };
  /** Where several processes work on one log, one of them does what need not be done by all. */
  const leads = (): boolean => {
    const sequencer = holder();
    return sequencer === undefined || sequencer.id === nodeId;
  };
  /** What goes wrong between the rounds of a step. */
  const onError =
    (step: string) =>
    (error: unknown): void => {
      void steps.step(step, () => Promise.reject(error));
    };

  async function startAccounting(): Promise<void> {
    const { url, token, timeout, refresh, flush, buffer: path } = config.accounting;
    if (url === undefined || token === undefined) return;
    const buffer = await openUsageBuffer({
      ...(path === undefined ? {} : { path }),
      onDrop: (count) => counts.accountingDropped(count),
    });
    const accounting = httpAccounting({ url, token, timeoutMs: timeout, now: () => clock.now() });
    const link: AccountingLink = accountingLink(quotas, accounting, buffer, newId, onError("accounting flush"));
    stops.push(() => link.close());
    again("accounting", refresh, async () => (leads() ? link.refresh() : undefined));
    again("accounting flush", flush, () => link.flush());
  }

  function startWebhook(): void {
    const { url, secret } = config.webhook;
    if (url === undefined || secret === undefined) return;
    const notifier = openWebhook({ url, secret, now: () => clock.now() });
    const notifications = budgetNotifications(quotas, notifier, newId, (result) => counts.webhook(result));
    again("notifications", NOTIFY_MS, async () => (leads() ? notifications.deliver() : undefined));
  }

  async function startRunner(): Promise<void> {
    if (options.runner === undefined) return;
    const agent: LocalAgent = await runLocally({
      quotas,
      runner: options.runner,
      heartbeats,
      newId,
      prefix: nodeId,
      nodes: config.runner.nodes,
      onError: onError("local runner"),
    });
    stops.push(() => agent.close());
    agent.beat(clock.now());
    again("local runner", HEARTBEAT_FLUSH_MS, async () => agent.beat(clock.now()));
  }

  async function startRpc(): Promise<void> {
    const { enabled, port } = config.grpc;
    const { serveAdminService } = options;
    if (!enabled || serveAdminService === undefined) return;
    const { host, proxy_protocol: proxies } = config.server;
    const tls = await readRpcTls(config);
    const server = await serveAdminService({
      host,
      port,
      ...(tls === undefined ? {} : { tls }),
      ...(proxies.length === 0 ? {} : { proxyProtocol: inRanges(proxies) }),
      handlers: adminHandlers(services, options.door),
    });
    stops.push(() => server.close());
    rpc = server;
    grpc = `${host}:${server.port}`;
    log.info({ port: server.port }, "the AdminService listens");
  }

  return {
    async start() {
      const days = config.scheduling.budget_period_days;
      if (days !== undefined && (await quotas.read()).system.budgetPeriodDays !== days)
        await quotas.propose({ kind: "system.update", id: newId(), by: "system", why: "configuration", budgetPeriodDays: days });
      await steps.step("log space", () => services.space.look());
      again("log space", SPACE_MS, () => services.space.look());
      await steps.step("instance name", () => services.name.keep());
      again("instance name", NAME_MS, () => services.name.keep());
      await startRunner();
      await startAccounting();
      startWebhook();
      await startRpc();
      again("heartbeats", HEARTBEAT_FLUSH_MS, () => heartbeats.flush(newId));
      again("audit archive", ARCHIVE_MS, async () => (leads() ? services.auditArchive.tidy(newId) : undefined));
      again("cycle", config.scheduling.cycle, async () => (leads() ? cycle.run() : undefined));
    },
    setSecureContext: (tls) => rpc?.setSecureContext(tls),
    listeners: () => (grpc === undefined ? {} : { grpc }),
    async stop() {
      for (const stop of stops.reverse()) await stop();
      await steps.step("heartbeats", () => heartbeats.flush(newId));
    },
  };
}
