import type { Metrics } from "@seneschal/adapters/metrics";
import { changes } from "@seneschal/contract";
import type { AuditMessage } from "@seneschal/core/audit";
import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import { Counter, Gauge } from "prom-client";
import { Lease } from "../jobs/lease.ts";
import type { Stoppable } from "../repeat.ts";
import type { BuiltService, Platform } from "../service.ts";
import { openSink } from "./open-sink.ts";
import { placeDocument, placeOf } from "./places.ts";
import type { AuditSinkSettings } from "./settings.ts";
import { type AuditSource, auditSourceOf } from "./source.ts";
import { tellSink } from "./tell-sink.ts";

/** How often it is looked at what each sink has not heard. */
const WATCH_MS = 1000;
const LEASE_MS = 30_000;
/** After a failure: doubled with each one more. */
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [1000, 60_000];

interface AuditSinksParts {
  readonly settings: Readonly<Record<string, AuditSinkSettings>>;
  /** Opened with `auditSinkCollections`. */
  readonly store: DocumentStore;
  readonly platform: Pick<Platform, "background" | "metrics" | "log" | "clock" | "random">;
  readonly service: string;
  /** `server.instance_id` in force. */
  readonly instance: string;
  /** What an event of this service says, in the words of all. */
  readonly describe: (entry: AuditEntry) => Pick<AuditMessage, "id" | "time" | "type" | "actor" | "outcome">;
  /** The decisions behind events, by the events' ids, for sinks that tell decisions. */
  readonly decisions?: (entries: readonly AuditEntry[]) => Promise<ReadonlyMap<string, JsonObject>>;
  /** Default: the log of the store. */
  readonly source?: AuditSource;
}

/** Tells the audit events of a service to its sinks. */
export interface AuditSinks {
  /** The service with its sinks: told while it runs, in its health, and refusing requests while one that is required is too far behind. */
  around<Built extends BuiltService>(built: Built): Built;
  /** A turn of every sink now; `start` of the service makes them due. Rejects with what failed, after all have had theirs. */
  deliver(): Promise<void>;
  /** Until when every sink that tells decisions has heard everything; undefined without one. */
  readonly decisionsTold: (() => number) | undefined;
  /** Ends what was opened for a service that is not built after all. */
  close(): Promise<void>;
}

/**
 * Opens the sinks of a service and finds their places in its log. Each is told by a step of background work of its own, `audit sink NAME`, so that none waits
 * for another. The log itself is the buffer: what a sink has not heard waits there. Over several processes one tells a sink at a
 * time, and each of them knows how far behind it is.
 */
export async function openAuditSinks(parts: AuditSinksParts): Promise<AuditSinks> {
  checkArgument("parts", parts, "object");
  const { store, service, instance, describe, decisions, source = auditSourceOf(parts.store) } = parts;
  const { background, clock, random, log } = parts.platform;
  const metrics = sinkMetrics(
    parts.platform.metrics,
    () => clock.now(),
    () => behind().length > 0,
  );
  const id = (): string => Buffer.from(random(16)).toString("hex");
  const ending = new AbortController();
  const message = (entry: AuditEntry): AuditMessage => {
    const { seq, stream, streamSeq, event } = entry;
    return { version: 1, service, instance, seq, stream, stream_seq: streamSeq, ...describe(entry), event };
  };
  const decided = async (entries: readonly AuditEntry[]): Promise<readonly AuditMessage[]> => {
    const known = (await decisions?.(entries)) ?? new Map<string, JsonObject>();
    return entries.map(message).flatMap((told) => {
      const event = known.get(told.id);
      return event === undefined ? [] : [{ ...told, event }];
    });
  };

  const open = async (name: string, settings: AuditSinkSettings): Promise<WatchedSink> => {
    const sink = await openSink(settings, () => clock.now());
    const lease = store.capabilities.multiProcess ? new Lease(store, `audit sink ${name}`, id(), LEASE_MS) : undefined;
    const place = async () => {
      const seq = settings.from === "beginning" ? 0 : await source.newest();
      if ((await placeOf(store, name)) === undefined) await store.commit({ commitId: id(), puts: [placeDocument(name, seq, 0)] });
    };
    await place();
    const turn = tellSink({
      name,
      sink,
      settings,
      store,
      source,
      messages: settings.tells === "decisions" ? decided : async (entries) => entries.map(message),
      lease,
      now: () => clock.now(),
      commitId: id,
      signal: ending.signal,
      delivered: (events) => metrics.delivered(name, events),
      missing(events) {
        metrics.missing(name, events);
        log.warn({ sink: name, events }, "audit events are gone that a sink had not heard");
      },
    });
    const watched: WatchedSink = { name, settings, sink, lease, told: 0, failures: 0, retryAt: 0, turn };
    await look(watched);
    metrics.watch(name, () => watched.told);
    return watched;
  };

  /** Until when the sink has heard everything; whether there is something that it has not heard. */
  const look = async (watched: WatchedSink): Promise<boolean> => {
    const now = clock.now();
    const place = await placeOf(store, watched.name);
    const [first] = place === undefined ? [] : await source.read(place.seq, 1);
    watched.told = first === undefined ? now : Math.min(now, Date.parse(describe(first).time));
    return first !== undefined;
  };

  const sinks: WatchedSink[] = [];
  const running: Stoppable[] = [];
  const close = async (): Promise<void> => {
    ending.abort();
    await Promise.all(running.splice(0).map((step) => step.stop()));
    for (const { lease, sink } of sinks.splice(0)) {
      await lease?.release(id());
      await sink.close();
    }
  };
  try {
    for (const [name, settings] of Object.entries(parts.settings)) sinks.push(await open(name, settings));
  } catch (error) {
    await close();
    throw error;
  }

  const take = async (watched: WatchedSink): Promise<void> => {
    try {
      await watched.turn();
      watched.failures = 0;
    } catch (error) {
      watched.retryAt = clock.now() + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** watched.failures);
      watched.failures += 1;
      metrics.failed(watched.name);
      throw error;
    } finally {
      await look(watched);
    }
  };
  const start = (): void => {
    for (const watched of sinks) {
      const { name } = watched;
      const due = background.soon(`audit sink ${name}`, LAST_RETRY_MS, () => take(watched));
      running.push(due);
      running.push(
        background.every(`audit sink ${name}: lag`, WATCH_MS, async () => {
          if ((await look(watched)) && clock.now() >= watched.retryAt) due.due(0);
        }),
      );
    }
  };

  /** Those required ones that are too far behind. */
  const behind = (): readonly string[] =>
    sinks.filter(({ settings, told }) => settings.required && clock.now() - told > settings.max_lag).map(({ name }) => name);
  const requireTold = (): void => {
    if (behind().length > 0)
      throw new CodedError("service_unavailable", "audit events do not reach where they must", { reason: "audit_sink_behind" });
  };

  const deciding = sinks.filter(({ settings }) => settings.tells === "decisions");
  return {
    close,
    decisionsTold: deciding.length === 0 ? undefined : () => Math.min(...deciding.map(({ told }) => told)),
    async deliver() {
      const turns = await Promise.allSettled(sinks.map(take));
      for (const turn of turns) if (turn.status === "rejected") throw turn.reason;
    },
    around: (built) => ({
      ...built,
      admits(ref) {
        // Probes, metrics and documents write no event.
        if (ref.route.auth !== "public" || changes(ref.route)) requireTold();
        built.admits?.(ref);
      },
      checks: [
        ...(built.checks ?? []),
        ...(sinks.some(({ settings }) => settings.required) ? [{ name: "audit_sinks", check: async () => requireTold() }] : []),
      ],
      async start() {
        await built.start?.();
        start();
      },
      async stop() {
        await close();
        await built.stop?.();
      },
    }),
  };
}

interface WatchedSink {
  readonly name: string;
  readonly settings: AuditSinkSettings;
  readonly sink: Awaited<ReturnType<typeof openSink>>;
  readonly lease: Lease | undefined;
  readonly turn: () => Promise<void>;
  /** Until then it has heard everything. Nothing that fails moves it on: it is the more behind. */
  told: number;
  failures: number;
  retryAt: number;
}

function sinkMetrics({ registry, prefix }: Metrics, now: () => number, refusing: () => boolean) {
  const registers = [registry];
  const labelNames = ["sink"];
  const told = new Map<string, () => number>();
  new Gauge({
    name: `${prefix}_audit_sink_lag_seconds`,
    help: "How long ago a sink was known to have heard everything",
    labelNames,
    registers,
    collect() {
      for (const [sink, until] of told) this.set({ sink }, Math.max(0, (now() - until()) / 1000));
    },
  });
  new Gauge({
    name: `${prefix}_audit_sink_refusing`,
    help: "1 while requests are refused because a required sink is too far behind",
    registers,
    collect() {
      this.set(refusing() ? 1 : 0);
    },
  });
  const counter = (name: string, help: string) =>
    new Counter({ name: `${prefix}_audit_sink_${name}`, help, labelNames, registers });
  const delivered = counter("events_total", "Audit events that came to a sink");
  const failed = counter("failures_total", "Batches that a sink did not take");
  const missing = counter("missing_total", "Audit events that were gone before a sink heard of them");
  return {
    watch(sink: string, until: () => number) {
      told.set(sink, until);
      // A counter that begins at what it counted first has no increase that an alert could see.
      for (const each of [delivered, failed, missing]) each.inc({ sink }, 0);
    },
    delivered: (sink: string, events: number) => delivered.inc({ sink }, events),
    failed: (sink: string) => failed.inc({ sink }),
    missing: (sink: string, events: number) => missing.inc({ sink }, events),
  };
}
