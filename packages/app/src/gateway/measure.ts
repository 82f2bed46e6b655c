import type { Metrics } from "@seneschal/adapters/metrics";
import { inSpan } from "@seneschal/adapters/telemetry";
import type { Federation } from "@seneschal/core/keys";
import { parseCertificates } from "@seneschal/crypto/x509";
import type { DocumentStore, Vault } from "@seneschal/kernel/ports";
import { Counter, Gauge, Histogram } from "prom-client";
import { authorities, every, type GatewayMetrics, instanceAuthorities } from "./ground/index.ts";
import {
  dispatches,
  federations,
  federationView,
  logWitnesses,
  messages,
  type PartnerStates,
  shares,
  witnessedLogs,
} from "./partners/index.ts";
import { type PolicyGate, workspaces } from "./workspaces/index.ts";

/** The ports that a gateway stands on, each measured. What they do and throw stays the same. */
export interface Measured {
  store(store: DocumentStore): DocumentStore;
  vault<V extends Vault>(vault: V): V;
  /** Enforcement counts as an evaluation too; asking one policy alone is counted by who asks. */
  policies(gate: PolicyGate, counts: Pick<GatewayMetrics, "policyEvaluated">): PolicyGate;
  /** Gauges that are read from the records when somebody looks. */
  watch(store: DocumentStore, partners: PartnerStates, now: () => number, damagedLogs: () => number): void;
}

type Call = (method: string, args: readonly unknown[], work: () => unknown) => unknown;

/** The same object; calls of its methods go through `call`. */
function around<T extends object>(target: T, call: Call): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return (...args: readonly unknown[]) => call(name, args, () => Reflect.apply(value, object, args));
    },
  });
}

const seconds = (since: number): number => (performance.now() - since) / 1000;

/** Registers the metrics of the gateway's ports. Labels are names of methods and outcomes, never of things. */
export function measured({ registry }: Metrics): Measured {
  const registers = [registry];
  const queries = new Histogram({
    name: "gateway_db_query_duration_seconds",
    help: "Time of calls of the document store",
    labelNames: ["operation"],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const auditWrites = new Histogram({
    name: "gateway_audit_write_duration_seconds",
    help: "Time of commits that carry audit events",
    buckets: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const vaultCalls = new Counter({
    name: "gateway_vault_operations_total",
    help: "Calls of the vault",
    labelNames: ["operation", "result"],
    registers,
  });
  const vaultUp = new Gauge({
    name: "gateway_vault_connection_up",
    help: "1 when the last call of the vault was answered",
    registers,
  });
  const evaluations = new Histogram({
    name: "gateway_policy_evaluation_duration_seconds",
    help: "Time to ask the policies that apply",
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  vaultUp.set(1);

  return {
    store: (store) =>
      around(store, (operation, args, work) => {
        if (operation === "subscribe" || operation === "close") return work();
        const started = performance.now();
        const draft = operation === "commit" ? (args[0] as { readonly audit?: readonly unknown[] }) : undefined;
        return (work() as Promise<unknown>).finally(() => {
          queries.observe({ operation }, seconds(started));
          if (draft?.audit !== undefined && draft.audit.length > 0) auditWrites.observe(seconds(started));
        });
      }),
    vault: (vault) =>
      around(vault, async (operation, _args, work) => {
        try {
          const answer = await work();
          vaultCalls.inc({ operation, result: "success" });
          vaultUp.set(1);
          return answer;
        } catch (error) {
          vaultCalls.inc({ operation, result: "error" });
          vaultUp.set((error as { readonly code?: unknown }).code === "vault_unavailable" ? 0 : 1);
          throw error;
        }
      }),
    policies: (gate, counts) =>
      around(gate, async (_name, _args, work) => {
        const started = performance.now();
        const answer = await inSpan("policy evaluate", {}, work);
        evaluations.observe(seconds(started));
        if (Array.isArray(answer) && answer.length > 0) {
          counts.policyEvaluated(answer.every(({ allowed }: { readonly allowed: boolean }) => allowed) ? "allowed" : "denied");
        }
        return answer;
      }),
    watch(store, partners, now, damagedLogs) {
      new Gauge({
        name: "gateway_audit_log_damaged",
        help: "Audit logs that signing or verification found damaged: 0 unless somebody changed the database",
        registers,
        collect() {
          this.set(damagedLogs());
        },
      });
      new Gauge({
        name: "gateway_keys_rotation_age_seconds",
        help: "Age of the oldest data key in force",
        registers,
        async collect() {
          const { items } = await store.list(workspaces.name, "by_key_age", [], { limit: 1 });
          const made = items[0]?.doc["dek_created_at"];
          this.set(typeof made === "string" ? Math.max(0, (now() - Date.parse(made)) / 1000) : 0);
        },
      });
      new Gauge({
        name: "gateway_federation_connections_active",
        help: "Federations that are active, by how the partner was found when it was last called",
        labelNames: ["status"],
        registers,
        async collect() {
          const active = await activeFederations(store);
          for (const status of ["healthy", "unhealthy", "not_ready", "unchecked"] as const) {
            this.set({ status }, active.filter(({ id }) => partners.of(id) === status).length);
          }
        },
      });
      new Gauge({
        name: "gateway_federation_certificate_expiry_seconds",
        help: "Until the first certificate ends that partners show us (inbound) or that we show partners (outbound); absent without one",
        labelNames: ["direction"],
        registers,
        async collect() {
          const active = (await activeFederations(store)).map(federationView);
          // With a label nothing is shown where nothing was set; without one it would be 0: ended.
          this.reset();
          for (const [direction, field] of [
            ["inbound", "certificate_expires_at"],
            ["outbound", "outbound_expires_at"],
          ] as const) {
            const ends = active.flatMap(({ [field]: at }) => (at === null ? [] : [Date.parse(at)]));
            if (ends.length > 0) this.set({ direction }, (Math.min(...ends) - now()) / 1000);
          }
        },
      });
      new Gauge({
        name: "gateway_authority_certificate_expiry_seconds",
        help: "Until the first certificate of one of the instance's own authorities ends, what another CA signed for it among them",
        labelNames: ["authority"],
        registers,
        async collect() {
          this.reset();
          for (const [authority, id] of Object.entries(instanceAuthorities)) {
            const { certificate, cross_signed = "" } = (await store.get(authorities.name, id))?.doc ?? {};
            if (certificate === undefined) continue;
            const ends = parseCertificates(`${certificate}${cross_signed}`).map(({ notAfter }) => notAfter);
            this.set({ authority }, (Math.min(...ends) - now()) / 1000);
          }
        },
      });
      new Gauge({
        name: "gateway_audit_witness_trouble",
        help: "Audit logs that do not go on from what was witnessed of them, as partners say of ours and we of theirs",
        labelNames: ["of", "growth"],
        registers,
        async collect() {
          for (const growth of ["put_back", "forked", "unproven", "other_log", "unfounded"] as const) {
            this.set({ of: "ours", growth }, await store.count(logWitnesses.name, "troubled", [growth]));
            this.set({ of: "partners", growth }, await store.count(witnessedLogs.name, "troubled", [growth]));
          }
        },
      });
      new Gauge({
        name: "gateway_audit_witness_oldest_seconds",
        help: "How long ago the partner that lags most cosigned an audit log of ours; 0 when none ever did",
        registers,
        async collect() {
          const { items } = await store.list(logWitnesses.name, "by_age", [], { limit: 1 });
          const since = items[0]?.doc["cosigned_at"];
          this.set(typeof since === "string" ? Math.max(0, (now() - Date.parse(since)) / 1000) : 0);
        },
      });
      new Gauge({
        name: "gateway_federation_unconfirmed",
        help: "Shared workspaces of which a partner did not confirm the newest state",
        registers,
        async collect() {
          this.set(await store.count(shares.name, "unconfirmed", []));
        },
      });
      new Gauge({
        name: "gateway_federation_outbox",
        help: "What waits to reach partners",
        labelNames: ["kind"],
        registers,
        async collect() {
          this.set({ kind: "dispatch" }, await store.count(dispatches.name, "due", []));
          this.set({ kind: "message" }, await store.count(messages.name, "due", []));
        },
      });
      new Gauge({
        name: "gateway_federation_outbox_oldest_seconds",
        help: "How long the oldest entry waits to reach its partner; 0 when none waits",
        registers,
        async collect() {
          const { items } = await store.list(dispatches.name, "by_age", [], { limit: 1 });
          const since = items[0]?.doc["created_at"];
          this.set(typeof since === "string" ? Math.max(0, (now() - Date.parse(since)) / 1000) : 0);
        },
      });
    },
  };
}

async function activeFederations(store: DocumentStore): Promise<readonly Federation[]> {
  const all: Federation[] = [];
  for await (const federation of every({ store }, federations, "active", [])) all.push(federation);
  return all;
}
