import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { CodedError, checkArgument, type JsonObject, utf8Decode, utf8Encode } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import { type QuotaErrorCode, type RejectionCode, reject } from "../errors.ts";
import { type Allocation, isActive, isTerminal } from "./allocation.ts";
import { addHolding, carryGuarantee, lineage } from "./holdings.ts";
import { type ComputeNode, layOut, type NodeState, ownerOf, stateOf, versionOf } from "./node.ts";
import { SortedMap } from "./sorted-map.ts";
import {
  type AuditRecord,
  type BudgetLevel,
  type Draft,
  type ExternalBudget,
  emptyState,
  type QuotaEvent,
  type QuotaState,
  type Receipt,
  type SystemQuotas,
  seqKey,
} from "./state.ts";
import type { Tenant } from "./tenant.ts";
import { Timeline } from "./timeline.ts";

/** The form below. An unknown number is refused: a replica must not guess. */
const STATE_FORMAT = 4;
/** Before work could be scaled, and nodes had to be wiped after work of a strict tenant. */
const FORMAT_3 = 3;
/** Before refusals were remembered, the nodes of ended work, and how a tenant's work gives way: release 0.1. */
const FORMAT_2 = 2;

/**
 * The state as bytes: one line of JSON per object, in a fixed order of sections and of keys. Equal states give equal
 * bytes, whatever commands led to them; what is derived is left out. Fields are arrays in the order of the lists below.
 */
export function encodeState(state: QuotaState): Uint8Array {
  checkArgument("state", state, "object");
  return concatBytes(...encodePieces(state));
}

/** Characters that become bytes at once: a state may be too large to be one text. */
const PIECE = 1 << 16;

/**
 * {@link encodeState} piece by piece, each of about so many characters and made only when it is asked for. The state is
 * immutable: what is applied between two pieces changes none of them.
 *
 * @example
 * ```ts
 * import { emptyState, encodePieces } from "@seneschal/quota";
 * let bytes = 0;
 * for (const piece of encodePieces(emptyState())) bytes += piece.length; // written, one after the other
 * console.log(bytes > 0); // true
 * ```
 */
export function* encodePieces(state: QuotaState, size = PIECE): IterableIterator<Uint8Array> {
  let text = "";
  for (const part of textOf(state)) {
    text += part;
    if (text.length < size) continue;
    yield utf8Encode(text);
    text = "";
  }
  if (text !== "") yield utf8Encode(text);
}

function* textOf(state: QuotaState): IterableIterator<string> {
  yield JSON.stringify([
    "state",
    STATE_FORMAT,
    state.at,
    pick(state.system, SYSTEM),
    state.receipts.since,
    state.nextEvent,
    state.nextAudit,
    state.auditHead,
    state.delivered,
    state.receipts.horizon,
  ]);
  for (const tenant of state.tenants.values()) yield line("tenant", ...pick(tenant, TENANT));
  for (const node of state.nodes.values()) yield line("node", ...pick(rowOf(state, node), NODE));
  for (const allocation of state.allocations.values()) yield line("allocation", ...pick(allocation, ALLOCATION));
  for (const [key, usage] of state.tenantUsage.entries()) yield* timelineText("tenantUsage", key, usage);
  for (const [key, usage] of state.userUsage.entries()) yield* timelineText("userUsage", key, usage);
  for (const [key, level] of state.budgetMarks.entries()) yield line("mark", key, level);
  for (const [key, { gpuHours, nodeHours, at }] of state.external.entries()) yield line("external", key, gpuHours, nodeHours, at);
  for (const [key, receipt] of state.receipts.old.entries()) yield receiptText("old", key, receipt);
  for (const [key, receipt] of state.receipts.young.entries()) yield receiptText("young", key, receipt);
  for (const event of state.events.values()) yield `\n["event",${sortedJson({ ...event })}]`;
  for (const entry of state.audit.values()) yield `\n["audit",${sortedJson({ ...entry })}]`;
  if (state.restoring !== null) yield line("restoring", state.restoring.backup, state.restoring.texts);
}

function receiptText(section: string, key: string, receipt: Receipt): string {
  if (!("refusal" in receipt)) return line(section, key, receipt.digest, receipt.result);
  const { code, message, details } = receipt.refusal;
  return line(section, key, receipt.digest, null, code, message, details);
}

function line(...row: readonly unknown[]): string {
  return `\n${JSON.stringify(row)}`;
}

/** Hex SHA-256 of {@link encodeState}: equal on every replica that applied the same log. */
export function stateHash(state: QuotaState): string {
  checkArgument("state", state, "object");
  return bytesToHex(sha256(encodeState(state)));
}

/** The state that was encoded, with everything derived rebuilt. Throws `snapshot_invalid`, and names a format that it does not know. */
export function decodeState(bytes: Uint8Array): QuotaState {
  try {
    return decodeLines(utf8Decode(bytes).split("\n"));
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    throw new CodedError<QuotaErrorCode>("snapshot_invalid", "the snapshot is not a quota state of this version", {}, cause);
  }
}

function decodeLines(lines: readonly string[]): QuotaState {
  const rows = new Map<string, unknown[][]>();
  for (const line of lines) {
    const [section, ...row] = JSON.parse(line) as [string, ...unknown[]];
    const known = rows.get(section);
    if (known === undefined) rows.set(section, [row]);
    else known.push(row);
  }
  const section = (name: string): readonly unknown[][] => rows.get(name) ?? [];
  const keyed = <V>(name: string, value: (row: unknown[]) => V): SortedMap<V> =>
    SortedMap.from(section(name).map((row) => [row[0] as string, value(row)] as const));
  const numbered = <V extends { readonly seq: number }>(name: string): SortedMap<V> =>
    SortedMap.from(section(name).map((row) => [seqKey((row[0] as V).seq), row[0] as V] as const));
  const head = section("state")[0];
  if (head === undefined) throw new TypeError("no head");
  const format = head[0];
  if (format !== STATE_FORMAT && format !== FORMAT_3 && format !== FORMAT_2) {
    const message = `the snapshot has state format ${JSON.stringify(format)}, this version knows ${FORMAT_2} to ${STATE_FORMAT}`;
    throw new CodedError<QuotaErrorCode>("snapshot_invalid", message, { format: String(format), newest: STATE_FORMAT });
  }
  const allocationOf = (row: readonly unknown[]): Omit<Allocation, "places"> => {
    const since3 = format === FORMAT_2 ? [...row.slice(0, -1), [], [], row.at(-1)] : row;
    const { nodes: desiredNodes } = format === STATE_FORMAT ? { nodes: 0 } : unpick(since3, ALLOCATION_3);
    return unpick(format === STATE_FORMAT ? row : [...since3, desiredNodes, false], ALLOCATION);
  };
  const tenantOf = (row: readonly unknown[]): Tenant => unpick(format === FORMAT_2 ? [...row, null, null] : row, TENANT);
  const receipt = (row: unknown[]): Receipt => {
    const [, digest, result, code, message, details] = row as [
      string,
      string | null,
      JsonObject,
      RejectionCode,
      string,
      JsonObject,
    ];
    return digest !== null && code !== undefined ? { digest, refusal: reject(code, message, details) } : { digest, result };
  };
  const draft: Draft = {
    ...emptyState(),
    at: head[1] as number,
    system: unpick<SystemQuotas>(head[2] as unknown[], SYSTEM),
    nextEvent: head[4] as number,
    nextAudit: head[5] as number,
    auditHead: head[6] as string,
    delivered: head[7] as number,
    tenants: SortedMap.from(
      section("tenant")
        .map(tenantOf)
        .map((tenant) => [tenant.id, tenant] as const),
    ),
    tenantUsage: keyed("tenantUsage", decodeTimeline),
    userUsage: keyed("userUsage", decodeTimeline),
    budgetMarks: keyed("mark", (row) => row[1] as BudgetLevel),
    external: keyed(
      "external",
      (row): ExternalBudget => ({
        gpuHours: row[1] as number | null,
        nodeHours: row[2] as number | null,
        at: row[3] as number,
      }),
    ),
    receipts: {
      since: head[3] as number,
      horizon: (head[8] ?? 0) as number,
      old: keyed("old", receipt),
      young: keyed("young", receipt),
    },
    events: numbered<QuotaEvent>("event"),
    audit: numbered<AuditRecord>("audit"),
    restoring: section("restoring").map(([backup, texts]) => ({ backup, texts }) as NonNullable<Draft["restoring"]>)[0] ?? null,
  };
  placeNodes(draft, format === STATE_FORMAT ? section("node") : section("node").map((row) => [...row, false]));
  const place = draft.nodes.finder();
  draft.allocations = SortedMap.from(
    section("allocation").map((row) => {
      const allocation = allocationOf(row);
      return [allocation.id, { ...allocation, places: allocation.assigned.map((id: string) => place(id)?.place as number) }];
    }),
  );
  derive(draft);
  return draft;
}

/** Nodes take their places in the order of their ids; what the owners add to a version starts again from zero. */
function placeNodes(draft: Draft, rows: readonly unknown[][]): void {
  const held = new Map<string, number[]>();
  const nodes = rows.map((row, place): [string, ComputeNode] => {
    const { owner, version, state, ...node } = unpick(row, NODE);
    if (owner !== null) held.set(owner, [...(held.get(owner) ?? []), place]);
    const edits = version - (owner === null ? 0 : 1);
    return [node.id, layOut({ ...node, state: state === "drained" ? "draining" : state, place, edits })];
  });
  draft.nodes = SortedMap.from(nodes);
  for (const [owner, places] of held) draft.owners = draft.owners.set(places, owner);
}

/** Rebuilds the derived maps from the encoded ones. */
function derive(draft: Draft): void {
  const fromTheTop = [...draft.tenants.values()].sort((a, b) => depth(draft, a) - depth(draft, b));
  for (const tenant of fromTheTop) carryGuarantee(draft, tenant, 0);
  const live: [string, true][] = [];
  for (const allocation of draft.allocations.values()) {
    if (!isTerminal(allocation.state)) live.push([allocation.id, true]);
    if (!isActive(allocation.state)) continue;
    const { tenant, user, assigned, gpusByType } = allocation;
    addHolding(draft, tenant, user, { nodes: assigned.length, allocations: 1, gpus: gpusByType });
  }
  draft.live = SortedMap.from(live);
  for (const node of draft.nodes.values()) if (node.claim !== null) draft.claimed++;
}

function depth(draft: Draft, tenant: Tenant): number {
  return [...lineage(draft, tenant.id)].length;
}

/** One line, in parts: a timeline may have millions of steps. Times as differences: they stay short. */
function* timelineText(section: string, key: string, usage: Timeline): IterableIterator<string> {
  yield line(section, key).slice(0, -1);
  let before = 0;
  for (const [at, nodes, gpus] of usage.steps()) {
    yield `,${at - before},${nodes},${gpus}`;
    before = at;
  }
  yield "]";
}

function decodeTimeline(row: unknown[]): Timeline {
  const numbers = row.slice(1) as number[];
  const steps: [number, number, number][] = [];
  let at = 0;
  for (let i = 0; i < numbers.length; i += 3) {
    at += numbers[i] as number;
    steps.push([at, numbers[i + 1] as number, numbers[i + 2] as number]);
  }
  return Timeline.from(steps);
}

function pick<T extends object>(object: T, fields: readonly (keyof T)[]): unknown[] {
  return fields.map((field) => object[field]);
}

function unpick<T extends object>(row: readonly unknown[], fields: readonly (keyof T)[]): T {
  if (row.length !== fields.length) throw new TypeError("wrong number of fields");
  return Object.fromEntries(fields.map((field, i) => [field, row[i]])) as T;
}

/** Every field of T, once: a field that is added to T and forgotten here does not compile. */
function fieldsOf<T>() {
  return <const F extends readonly (keyof T)[]>(
    ...fields: Exclude<keyof T, F[number]> extends never ? F : [never, Exclude<keyof T, F[number]>]
  ): readonly (keyof T)[] => fields as unknown as readonly (keyof T)[];
}

const SYSTEM = fieldsOf<SystemQuotas>()(
  "sensitivePoolSize",
  "budgetPeriodDays",
  "version",
  "updatedAt",
  "updatedBy",
  "updateReason",
);
const TENANT = fieldsOf<Tenant>()(
  "id",
  "parent",
  "maxNodes",
  "maxConcurrentAllocations",
  "gpuHoursBudget",
  "nodeHoursBudget",
  "fairShareTarget",
  "burstAllowance",
  "isolationLevel",
  "borrowingLimit",
  "lendingLimit",
  "maxGpus",
  "userMaxNodes",
  "userMaxConcurrentAllocations",
  "version",
  "createdAt",
  "updatedAt",
  "updatedBy",
  "updateReason",
  "preemption",
  "preemptionExemptHours",
);
/** A node as it is stored: with its owner, and with the version that others see. */
type NodeRow = Omit<ComputeNode, "place" | "edits" | "state"> & {
  readonly state: NodeState;
  readonly owner: string | null;
  readonly version: number;
};
function rowOf(state: QuotaState, node: ComputeNode): NodeRow {
  return { ...node, state: stateOf(state, node), owner: ownerOf(state, node), version: versionOf(state, node) };
}
const NODE = fieldsOf<NodeRow>()(
  "id",
  "group",
  "gpuType",
  "gpuCount",
  "cpuCores",
  "memoryGb",
  "agentAddress",
  "conformance",
  "energyPrice",
  "datasets",
  "state",
  "stateReason",
  "agent",
  "lastHeartbeat",
  "owner",
  "claim",
  "version",
  "unwiped",
);
type AllocationRow3 = Omit<Allocation, "places" | "desiredNodes" | "wipes">;
const ALLOCATION_3 = fieldsOf<AllocationRow3>()(
  "id",
  "tenant",
  "user",
  "project",
  "vcluster",
  "entrypoint",
  "nodes",
  "minNodes",
  "walltimeHours",
  "lifecycle",
  "requeuePolicy",
  "maxRequeue",
  "image",
  "sensitive",
  "priorityClass",
  "checkpoint",
  "gpuType",
  "gpusPerNode",
  "datasets",
  "labels",
  "state",
  "statusReason",
  "assigned",
  "perNodeGpus",
  "gpusByType",
  "createdAt",
  "startedAt",
  "completedAt",
  "exitCode",
  "requeues",
  "attempts",
  "since",
  "preemptedFor",
  "lastAssigned",
  "lastPerNodeGpus",
  "version",
);
const ALLOCATION: readonly (keyof Omit<Allocation, "places">)[] = [...ALLOCATION_3, "desiredNodes", "wipes"];
