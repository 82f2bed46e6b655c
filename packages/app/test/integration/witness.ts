import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { apply, type Command, emptyState, holdingOf, ownerOf, type QuotaState } from "@seneschal/quota";
import type { Operation } from "./find-linearization.ts";

/** What a tenant held and might hold, from one position of the log on. */
interface TenantFact {
  readonly position: number;
  readonly nodes: number;
  readonly maxNodes: number;
  readonly version: number;
}

/**
 * An independent reader of the log: replays it from its first entry with the state machine while it grows, checks limits and
 * owners after every entry, and remembers what was true after which command. A position is a number of commands.
 */
export class Witness {
  state: QuotaState = emptyState();
  entries = 0;
  commands = 0;
  /** Everything that must not be: entries that do not replay, limits passed, nodes with two owners, commands done twice. */
  readonly violations: string[] = [];
  readonly #log: ReplicatedLog;
  readonly #submitted = new Map<string, number>();
  readonly #completed = new Map<string, number>();
  readonly #edits = new Map<string, number>();
  readonly #versions = new Map<string, [position: number, version: number][]>();
  readonly #tenants = new Map<string, TenantFact[]>();

  constructor(log: ReplicatedLog) {
    this.#log = log;
  }

  /** Reads up to the head of the log. */
  async follow(): Promise<void> {
    for (;;) {
      const page = await this.#log.read(this.entries, { limit: 256 });
      for (const entry of page.entries) {
        this.entries = entry.seq;
        for (const command of entry.commands) this.#apply(command as unknown as Command, entry.at);
      }
      if (this.entries >= page.head.seq) return;
    }
  }

  /** Acknowledged writes that the log does not have. */
  lost(operations: readonly Operation[]): readonly string[] {
    return operations.filter(({ position }) => position !== undefined && Number.isNaN(position)).map(({ name }) => name);
  }

  submitted(allocation: string): number {
    return this.#submitted.get(allocation) ?? Number.NaN;
  }

  completed(allocation: string): number {
    return this.#completed.get(allocation) ?? Number.NaN;
  }

  /** The edit of a tenant that gave this reason. */
  edited(reason: string): number {
    return this.#edits.get(reason) ?? Number.NaN;
  }

  /** Somebody saw this version of an allocation; 0: that there is none. */
  sawAllocation(allocation: string, version: number): NonNullable<Operation["observedFrom"]> {
    return (from) =>
      within(
        this.#versions.get(allocation) ?? [],
        from,
        ([position]) => position,
        ([, seen]) => seen === version,
      );
  }

  /** Somebody was told this of a tenant. */
  sawTenant(tenant: string, told: Partial<Omit<TenantFact, "position">>): NonNullable<Operation["observedFrom"]> {
    const same = (fact: TenantFact): boolean =>
      Object.entries(told).every(([key, value]) => fact[key as keyof TenantFact] === value);
    return (from) => within(this.#tenants.get(tenant) ?? [], from, ({ position }) => position, same);
  }

  #apply(command: Command, at: number): void {
    const before = this.state;
    this.commands++;
    const outcome = apply(before, command, at);
    // A refusal under a caller's key is in the log too: it changes nothing but that it is remembered.
    if (!outcome.ok && outcome.state !== undefined) {
      this.state = outcome.state;
      return;
    }
    if (!outcome.ok || outcome.repeat) {
      this.violations.push(`entry ${this.entries}: ${command.kind} is not accepted again`);
      return;
    }
    this.state = outcome.state;
    const once = (places: Map<string, number>, id: string): void => {
      if (places.has(id)) this.violations.push(`entry ${this.entries}: ${command.kind} of ${id} is done twice`);
      places.set(id, this.commands);
    };
    if (command.kind === "allocation.submit") once(this.#submitted, command.allocation);
    if (command.kind === "allocation.move" && command.to === "completed") once(this.#completed, command.allocation);
    if (command.kind === "tenant.update" && command.why !== undefined) once(this.#edits, command.why);
    if ("allocation" in command) this.#note(command.allocation);
    if (command.kind === "allocation.prune") for (const id of command.allocations) this.#note(id);
    if (command.kind === "allocation.assign") this.#checkOwners(command.allocation, command.nodes);
    this.#noteTenants(before);
  }

  #note(allocation: string): void {
    const version = this.state.allocations.get(allocation)?.version ?? 0;
    const known = this.#versions.get(allocation);
    if (known?.at(-1)?.[1] === version) return;
    if (known === undefined) this.#versions.set(allocation, [[this.commands, version]]);
    else known.push([this.commands, version]);
  }

  #noteTenants(before: QuotaState): void {
    for (const { id, maxNodes, version } of this.state.tenants.values()) {
      const { nodes } = holdingOf(this.state, id);
      const facts = this.#tenants.get(id) ?? [];
      const last = facts.at(-1);
      if (last !== undefined && last.nodes === nodes && last.version === version) continue;
      facts.push({ position: this.commands, nodes, maxNodes, version });
      this.#tenants.set(id, facts);
      // what a reduction leaves above the limit may stay; it never grows
      if (nodes > Math.max(maxNodes, holdingOf(before, id).nodes))
        this.violations.push(`entry ${this.entries}: tenant ${id} holds ${nodes} of ${maxNodes} nodes`);
    }
  }

  #checkOwners(allocation: string, nodes: readonly string[]): void {
    for (const id of nodes) {
      const node = this.state.nodes.get(id);
      if (node === undefined || ownerOf(this.state, node) !== allocation)
        this.violations.push(`entry ${this.entries}: node ${id} is not owned by ${allocation}`);
    }
    const holders = [...this.state.live.keys()].flatMap((id) => this.state.allocations.get(id)?.assigned ?? []);
    if (new Set(holders).size !== holders.length) this.violations.push(`entry ${this.entries}: a node has two owners`);
  }
}

/** The least position from `from` on at which a fact that fits was in force. */
function within<Fact>(
  facts: readonly Fact[],
  from: number,
  positionOf: (fact: Fact) => number,
  fits: (fact: Fact) => boolean,
): number | undefined {
  let low = 0;
  let high = facts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positionOf(facts[middle] as Fact) <= from) low = middle + 1;
    else high = middle;
  }
  for (let i = Math.max(0, low - 1); i < facts.length; i++)
    if (fits(facts[i] as Fact)) return Math.max(from, positionOf(facts[i] as Fact));
  return undefined;
}
