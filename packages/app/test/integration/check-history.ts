import type { ReplicatedLog } from "@seneschal/core/ports";
import { apply, type Command, emptyState, holdingOf, ownerOf, type QuotaState, stateHash } from "@seneschal/quota";

/** One acknowledged submission: when it was first asked, when it was answered, and which allocation the answer named. */
export interface Acknowledged {
  readonly allocation: string;
  readonly asked: number;
  readonly answered: number;
}

/** What an independent reading of the log found. Everything but `entries`, `commands` and `state` must be empty. */
export interface Verdict {
  readonly entries: number;
  readonly commands: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly violations: readonly string[];
  /** Pairs that the log orders against real time: the second was asked after the first was answered. */
  readonly reordered: readonly string[];
  readonly state: QuotaState;
  readonly hash: string;
}

/**
 * Replays the log from its first entry with the state machine, checks the limits and owners after every entry, and checks
 * that the order of the log is a linearization of what clients saw: each acknowledged submission is in it once, and those
 * that did not overlap in time are in it in their order.
 */
export async function checkHistory(log: ReplicatedLog, acknowledged: readonly Acknowledged[]): Promise<Verdict> {
  let state = emptyState();
  const places = new Map<string, number[]>();
  const violations: string[] = [];
  let entries = 0;
  let commands = 0;
  for (;;) {
    const page = await log.read(entries, { limit: 256 });
    for (const entry of page.entries) {
      entries = entry.seq;
      for (const given of entry.commands) {
        const command = given as unknown as Command;
        commands++;
        const outcome = apply(state, command, entry.at);
        if (!outcome.ok || outcome.repeat) violations.push(`entry ${entry.seq}: ${command.kind} is not accepted again`);
        else state = outcome.state;
        if (command.kind === "allocation.submit")
          places.set(command.allocation, [...(places.get(command.allocation) ?? []), commands]);
      }
      violations.push(...overLimits(state).map((problem) => `entry ${entry.seq}: ${problem}`));
    }
    if (entries >= page.head.seq) break;
  }
  violations.push(...wrongOwners(state));
  const placed = acknowledged.map((ack) => ({ ...ack, place: places.get(ack.allocation)?.[0] ?? Number.NaN }));
  return {
    entries,
    commands,
    lost: placed.filter(({ place }) => Number.isNaN(place)).map(({ allocation }) => allocation),
    doubled: [...places].filter(([, at]) => at.length > 1).map(([allocation]) => allocation),
    violations,
    reordered: againstTime(placed),
    state,
    hash: stateHash(state),
  };
}

function overLimits(state: QuotaState): string[] {
  return [...state.tenants.values()].flatMap((tenant) => {
    const { nodes, allocations } = holdingOf(state, tenant.id);
    const limit = tenant.maxConcurrentAllocations ?? Number.POSITIVE_INFINITY;
    return nodes > tenant.maxNodes || allocations > limit
      ? [`tenant ${tenant.id} holds ${nodes} nodes, ${allocations} allocations`]
      : [];
  });
}

function wrongOwners(state: QuotaState): string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, assigned } of state.allocations.values())
    for (const node of assigned) {
      if (owners.has(node)) problems.push(`node ${node} has two owners`);
      owners.set(node, id);
    }
  for (const node of state.nodes.values())
    if ((owners.get(node.id) ?? null) !== ownerOf(state, node)) problems.push(`owner of ${node.id} differs`);
  return problems;
}

/** Sweeps by time of answer: the latest place among everything answered before `asked` must lie before its own. */
function againstTime(placed: readonly (Acknowledged & { readonly place: number })[]): string[] {
  const byAnswer = placed.filter(({ place }) => !Number.isNaN(place)).sort((a, b) => a.answered - b.answered);
  const byAsked = [...byAnswer].sort((a, b) => a.asked - b.asked);
  const problems: string[] = [];
  let latest = 0;
  let next = 0;
  for (const ack of byAsked) {
    for (let done = byAnswer[next]; done !== undefined && done.answered < ack.asked; done = byAnswer[++next])
      latest = Math.max(latest, done.place);
    if (ack.place < latest) problems.push(ack.allocation);
  }
  return problems;
}
