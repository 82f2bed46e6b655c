import type { LocalRunner } from "@seneschal/adapters/runner";
import type { Allocation, Command, QuotaEvent } from "@seneschal/quota";
import type { Heartbeats } from "../cycle/heartbeats.ts";
import type { Quotas } from "../quotas.ts";

/** The principal that the local runner's nodes belong to. */
const LOCAL_AGENT = "local-runner";

export interface LocalAgent {
  beat(now: number): void;
  close(): Promise<void>;
}

export interface LocalAgentOptions {
  readonly quotas: Quotas;
  readonly runner: LocalRunner;
  readonly heartbeats: Heartbeats;
  readonly newId: () => string;
  /** Names and number of the nodes that this machine plays. */
  readonly prefix: string;
  readonly nodes: number;
  readonly onError: (error: unknown) => void;
}

/**
 * An agent inside the scheduler's own process: registers nodes, executes the entrypoints of work that is assigned to
 * them, reports how it ended. The first node of an allocation runs the command. Work that an earlier process was running
 * when it died is failed as by a node failure.
 */
export async function runLocally(options: LocalAgentOptions): Promise<LocalAgent> {
  const { quotas, runner, heartbeats, newId, prefix, onError } = options;
  const names = Array.from({ length: options.nodes }, (_, i) => `${prefix}-${i}`);
  const mine = new Set(names);
  const stamp = () => ({ id: newId(), by: LOCAL_AGENT });
  await quotas.proposeAll(
    names.map((node) => ({
      kind: "node.register",
      ...stamp(),
      node,
      agent: LOCAL_AGENT,
      inventory: {
        group: "0",
        gpuType: null,
        gpuCount: 0,
        cpuCores: 1,
        memoryGb: 1,
        agentAddress: null,
        conformance: null,
        energyPrice: null,
        datasets: [],
      },
    })),
  );

  /** Reports that nobody has answered: the work has ended whatever became of them, so they are sent again under their ids. */
  const unanswered = new Map<string, Command>();
  const send = async (command: Command): Promise<void> => {
    await quotas.proposeAll([command]);
    unanswered.delete(command.id);
  };
  const report = (command: Command): void => {
    unanswered.set(command.id, command);
    send(command).catch(onError);
  };
  const ended = (id: string, exitCode: number): void => {
    const allocation = quotas.state().allocations.get(id);
    if (allocation === undefined) return;
    const move = { kind: "allocation.move" as const, ...stamp(), allocation: id, exitCode };
    if (allocation.state === "checkpointing") report({ ...move, to: "suspended" });
    else if (allocation.state === "running")
      report({
        ...move,
        to: exitCode === 0 ? "completed" : "failed",
        ...(exitCode === 0 ? {} : { reason: `exit code ${exitCode}` }),
      });
  };
  const start = (allocation: Allocation): void => {
    const env = { SENESCHAL_ALLOCATION: allocation.id, SENESCHAL_NODES: allocation.assigned.join(",") };
    runner.start(allocation.id, allocation.entrypoint, env, (exitCode) => ended(allocation.id, exitCode));
  };
  const isMine = (allocation: Allocation): boolean => mine.has(allocation.assigned[0] ?? "");

  const onEvent = (event: QuotaEvent): void => {
    const id = event.payload["allocation_id"];
    const allocation = typeof id === "string" ? quotas.state().allocations.get(id) : undefined;
    if (allocation === undefined) return;
    if (allocation.state === "running" && isMine(allocation)) start(allocation);
    else if (allocation.state !== "running" && runner.running().includes(allocation.id)) runner.kill(allocation.id);
  };
  // what was running before this process was, nobody runs now
  for (const id of quotas.state().live.keys()) {
    const allocation = quotas.state().allocations.get(id);
    if (allocation?.state !== "running" || !isMine(allocation)) continue;
    for (const verb of ["fail", "enable"] as const)
      await quotas.proposeAll([
        { kind: "node.operate", ...stamp(), node: allocation.assigned[0] ?? "", verb, why: "the runner was restarted" },
      ]);
  }
  const stop = quotas.subscribe((events) => {
    for (const event of events) onEvent(event);
  });
  return {
    beat(now) {
      for (const node of names) heartbeats.beat(node, now);
      for (const command of unanswered.values()) send(command).catch(onError);
    },
    async close() {
      stop();
      await runner.close();
    },
  };
}
