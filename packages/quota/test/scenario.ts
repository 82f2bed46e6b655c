import { expect } from "vitest";
import { type Accepted, apply, type Outcome } from "../src/apply/apply.ts";
import { type Draft, INVENTORY, REQUEST } from "../src/arbitraries/index.ts";
import type { Command } from "../src/command.ts";
import type { Rejection } from "../src/errors.ts";
import type { Allocation, AllocationRequest, AllocationState } from "../src/state/allocation.ts";
import { type ComputeNode, type NodeInventory, type NodeState, ownerOf, stateOf } from "../src/state/node.ts";
import { emptyState, type QuotaEvent, type QuotaState } from "../src/state/state.ts";
import type { TenantSettings } from "../src/state/tenant.ts";

/** A state with a clock in the test's hand. */
export class Scenario {
  state: QuotaState = emptyState();
  at = 1_000_000;
  events: QuotaEvent[] = [];
  #next = 1;

  send(command: Draft): Outcome {
    const outcome = apply(this.state, { id: `c${this.#next++}`, by: "root", ...command } as Command, this.at);
    if (outcome.ok) {
      this.state = outcome.state;
      this.events.push(...outcome.events);
    }
    return outcome;
  }

  ok(command: Draft): Accepted {
    const outcome = this.send(command);
    expect(outcome).toMatchObject({ ok: true });
    return outcome as Accepted;
  }

  refused(command: Draft): Rejection {
    const before = this.state;
    const outcome = this.send(command);
    expect(outcome.ok).toBe(false);
    expect(this.state).toBe(before);
    return outcome as Rejection;
  }

  tenant(id: string, settings: Partial<TenantSettings> = {}, parent?: string): this {
    this.ok({ kind: "tenant.create", tenant: id, settings, ...(parent === undefined ? {} : { parent }) });
    return this;
  }

  nodes(count: number, inventory: Partial<NodeInventory> = {}, prefix = "n"): this {
    for (let i = 0; i < count; i++)
      this.ok({
        kind: "node.register",
        node: `${prefix}${String(i).padStart(4, "0")}`,
        inventory: { ...INVENTORY, ...inventory },
        agent: "agent-1",
      });
    return this;
  }

  submit(id: string, request: Partial<AllocationRequest> = {}): this {
    this.ok({ kind: "allocation.submit", allocation: id, request: { ...REQUEST, minNodes: request.nodes ?? 1, ...request } });
    return this;
  }

  assign(id: string, ...nodes: string[]): this {
    this.ok({ kind: "allocation.assign", allocation: id, nodes, to: "running", expected: {} });
    return this;
  }

  move(id: string, to: AllocationState, more: { exitCode?: number; expectedRequeues?: number } = {}): this {
    this.ok({ kind: "allocation.move", allocation: id, to, ...more });
    return this;
  }

  /** Lets `hours` pass. */
  wait(hours: number): this {
    this.at += Math.round(hours * 3_600_000);
    return this;
  }

  allocation(id: string): Allocation {
    return this.state.allocations.get(id) as Allocation;
  }

  nodeState(node: string): NodeState {
    return stateOf(this.state, this.state.nodes.get(node) as ComputeNode);
  }

  owner(node: string): string | null {
    return ownerOf(this.state, this.state.nodes.get(node) as ComputeNode);
  }
}
