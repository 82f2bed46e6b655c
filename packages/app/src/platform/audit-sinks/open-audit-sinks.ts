import type { AuditSink } from "@seneschal/adapters/audit-sinks";
import type { Metrics } from "@seneschal/adapters/metrics";
import { changes } from "@seneschal/contract";
import type { AuditMessage } from "@seneschal/core/audit";
import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import { Counter, Gauge } from "prom-client";
import { Lease } from "../jobs/lease.ts";
import type { Stoppable } from "../repeat.ts";
import type { BuiltService, Platform } from "../service.ts";
import { openSink, readSinkTls, type SinkTls } from "./open-sink.ts";
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
  readonly settings: AuditSinksSettings;
  /** Opened with `auditSinkCollections`; asked for when there is a sink, or no `source`. */
  readonly store: () => Promise<DocumentStore>;
  readonly platform: Pick<Platform, "background" | "metrics" | "log" | "clock" | "random">;
  readonly service: string;
  /** `server.instance_id` in force. */
  readonly instance: string;
  /** What an event of this service says, in the words of all. */
  readonly describe: (entry: AuditEntry) => Pick<AuditMessage, "id" | "time" | "type" | "actor" | "outcome">;
  /** The decisions behind events, by the events' ids, for sinks that tell decisions. */
  readonly decisions?: (entries: readonly AuditEntry[]) => Promise<ReadonlyMap<string, readonly JsonObject[]>>;
  /** Default: the log of the store. */
  readonly source?: AuditSource;
}

type AuditSinksSettings = Readonly<Record<string, AuditSinkSettings>>;

/** Tells the audit events of a service to its sinks. */
export interface AuditSinks {
  /**
   * The service with its sinks: told while it runs, in its health, refusing requests while one that is required is too far behind, and others
   * after a reload of a configuration with other `audit_sinks`.
   */
  around<Built extends BuiltService>(built: Built): Built;
  /** A turn of every sink now; `start` of the service makes them due. Rejects with what failed, after all have had theirs. */
  deliver(): Promise<void>;
  /** Until when every sink that tells decisions has heard everything; undefined while there is none. */
  decisionsTold(): number | undefined;
  /**
   * Opens what other settings name, and says what puts it in force: a sink that is gone ends, one that is new begins, one that is told otherwise goes on where
   * it stands, after the turn of before has ended; the others are not touched. Rejects, and nothing has changed, for a sink that cannot be opened;
   * what was opened holds nothing before its first turn.
   */
  prepare(settings: AuditSinksSettings): Promise<() => Promise<void>>;
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
  const { service, instance, describe, decisions } = parts;
  const { background, clock, random, log } = parts.platform;
  const source = parts.source ?? auditSourceOf(await parts.store());
  const metrics = sinkMetrics(
    parts.platform.metrics,
    () => clock.now(),
    () => behind().length > 0,
  );
  const id = (): string => Buffer.from(random(16)).toString("hex");
  const message = (entry: AuditEntry): AuditMessage => {
    const { seq, stream, streamSeq, event } = entry;
    return { version: 1, service, instance, seq, stream, stream_seq: streamSeq, ...describe(entry), event };
  };
  const decided = async (entries: readonly AuditEntry[]): Promise<readonly AuditMessage[]> => {
    const known = (await decisions?.(entries)) ?? new Map<string, readonly JsonObject[]>();
    return entries.map(message).flatMap((told) => (known.get(told.id) ?? []).map((event) => ({ ...told, event })));
  };

  /** Opens a sink and finds out how far it is. Writes nothing. */
  const open = async (name: string, settings: AuditSinkSettings, tls: SinkTls, before?: WatchedSink): Promise<WatchedSink> => {
    const sink = openSink(settings, tls, () => clock.now());
    const store = await parts.store();
    const fresh = () => (store.capabilities.multiProcess ? new Lease(store, `audit sink ${name}`, id(), LEASE_MS) : undefined);
    const lease = before === undefined ? fresh() : before.lease;
    const ending = new AbortController();
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
    const begins = settings.from === "beginning" ? 0 : await source.newest();
    const watched: WatchedSink = {
      name,
      settings,
      form: formOf(settings, tls),
      sink,
      store,
      lease,
      begins,
      turn,
      ending,
      steps: [],
      last: Promise.resolve(),
      told: 0,
      failures: 0,
      retryAt: 0,
    };
    await hear(watched, (await placeOf(store, name))?.seq ?? begins);
    return watched;
  };

  /** Until when the sink has heard everything, told up to number `seq`; whether there is something that it has not heard. */
  const hear = async (watched: WatchedSink, seq: number): Promise<boolean> => {
    const now = clock.now();
    const [first] = await source.read(seq, 1);
    watched.told = first === undefined ? now : Math.min(now, Date.parse(describe(first).time));
    return first !== undefined;
  };
  /** The same of where it stands; one that stands nowhere yet is given its place. */
  const look = async (watched: WatchedSink): Promise<boolean> => {
    const { store, name, begins } = watched;
    const place = (): ReturnType<typeof placeOf> => placeOf(store, name);
    let stands = await place();
    if (stands === undefined) {
      await store.commit({ commitId: id(), puts: [placeDocument(name, begins, 0)] });
      stands = await place();
    }
    return hear(watched, stands?.seq ?? begins);
  };

  let sinks: readonly WatchedSink[] = [];
  let started = false;
  /** Those that are not in force any more and still end, by name. */
  const leaving = new Map<string, Promise<void>>();

  const take = (watched: WatchedSink): Promise<void> => {
    const turn = watched.last.then(async () => {
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
    });
    watched.last = turn.catch(() => undefined);
    return turn;
  };
  const begin = (watched: WatchedSink): void => {
    const { name } = watched;
    const due = background.soon(`audit sink ${name}`, LAST_RETRY_MS, () => take(watched));
    const lag = background.every(`audit sink ${name}: lag`, WATCH_MS, async () => {
      if ((await look(watched)) && clock.now() >= watched.retryAt) due.due(0);
    });
    watched.steps.push(due, lag);
  };
  /** The turn that runs is cut short; whoever tells the sink next begins behind it. */
  const end = async (watched: WatchedSink): Promise<void> => {
    watched.ending.abort();
    await Promise.all(watched.steps.map((step) => step.stop()));
    await watched.last;
    await watched.sink.close();
    if (sinks.some(({ lease, name }) => name === watched.name && lease === watched.lease)) return;
    // One that cannot be given back runs out.
    await watched.lease?.release(id()).catch(() => undefined);
    if (sinks.some(({ name }) => name === watched.name)) return;
    metrics.forget(watched.name);
    for (const step of [`audit sink ${watched.name}`, `audit sink ${watched.name}: lag`]) background.skip(step);
  };
  const leave = (watched: WatchedSink): void => {
    const { name } = watched;
    const left = end(watched);
    leaving.set(name, left);
    void left.finally(() => {
      if (leaving.get(name) === left) leaving.delete(name);
    });
  };

  const prepare = async (settings: AuditSinksSettings): Promise<() => Promise<void>> => {
    const next: WatchedSink[] = [];
    for (const [name, given] of Object.entries(settings)) {
      const before = sinks.find((sink) => sink.name === name);
      const tls = await readSinkTls(given);
      next.push(before?.form === formOf(given, tls) ? before : await open(name, given, tls, before));
    }
    return async () => {
      const others = sinks.filter((sink) => !next.includes(sink));
      const fresh = next.filter((sink) => !sinks.includes(sink));
      sinks = next;
      others.forEach(leave);
      for (const sink of fresh) {
        sink.last = leaving.get(sink.name) ?? sink.last;
        metrics.watch(sink.name, () => sink.told);
        if (started) begin(sink);
      }
      await Promise.all(fresh.map(look));
    };
  };
  const close = async (): Promise<void> => {
    const all = sinks;
    sinks = [];
    all.forEach(leave);
    await Promise.all(leaving.values());
  };
  try {
    await (await prepare(parts.settings))();
  } catch (error) {
    await close();
    throw error;
  }

  /** Those required ones that are too far behind. */
  const behind = (): readonly string[] =>
    sinks.filter(({ settings, told }) => settings.required && clock.now() - told > settings.max_lag).map(({ name }) => name);
  const requireTold = (): void => {
    if (behind().length > 0)
      throw new CodedError("service_unavailable", "audit events do not reach where they must", { reason: "audit_sink_behind" });
  };

  return {
    close,
    prepare,
    decisionsTold() {
      const deciding = sinks.filter(({ settings }) => settings.tells === "decisions");
      return deciding.length === 0 ? undefined : Math.min(...deciding.map(({ told }) => told));
    },
    async deliver() {
      const turns = await Promise.allSettled(sinks.map(take));
      for (const turn of turns) if (turn.status === "rejected") throw turn.reason;
    },
    around: (built) => ({
      ...built,
      async reload(config) {
        const { apply, ...rest } = (await built.reload?.(config)) ?? {};
        const change = await prepare((config as { readonly audit_sinks: AuditSinksSettings }).audit_sinks);
        return {
          ...rest,
          async apply() {
            // A place that cannot be written now is by the step that looks how far the sink is, which says so until then.
            const changed = change().catch(() => undefined);
            await apply?.();
            await changed;
          },
        };
      },
      admits(ref) {
        // Probes, metrics and documents write no event.
        if (ref.route.auth !== "public" || changes(ref.route)) requireTold();
        built.admits?.(ref);
      },
      checks: [
        ...(built.checks ?? []),
        { name: "audit_sinks", applies: () => sinks.some(({ settings }) => settings.required), check: async () => requireTold() },
      ],
      async start() {
        await built.start?.();
        started = true;
        sinks.forEach(begin);
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
  /** Two of the same name with the same form are told alike. */
  readonly form: string;
  readonly sink: AuditSink;
  readonly store: DocumentStore;
  readonly lease: Lease | undefined;
  /** Number of the event behind which it begins if it has no place yet. */
  readonly begins: number;
  readonly turn: () => Promise<void>;
  readonly ending: AbortController;
  readonly steps: Stoppable[];
  /** Its last turn, or what has to end before its first. */
  last: Promise<void>;
  /** Until then it has heard everything. Nothing that fails moves it on: it is the more behind. */
  told: number;
  failures: number;
  retryAt: number;
}

const formOf = (settings: AuditSinkSettings, tls: SinkTls): string => JSON.stringify([settings, tls]);

function sinkMetrics({ registry, prefix }: Metrics, now: () => number, refusing: () => boolean) {
  const registers = [registry];
  const labelNames = ["sink"];
  const told = new Map<string, () => number>();
  const lag = new Gauge({
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
    forget(sink: string) {
      told.delete(sink);
      lag.remove({ sink });
      for (const each of [delivered, failed, missing]) each.remove({ sink });
    },
    delivered: (sink: string, events: number) => delivered.inc({ sink }, events),
    failed: (sink: string) => failed.inc({ sink }),
    missing: (sink: string, events: number) => missing.inc({ sink }, events),
  };
}
