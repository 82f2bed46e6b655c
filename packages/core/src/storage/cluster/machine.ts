import { checkArgument, type Json } from "@seneschal/kernel";
import { decodeAsciiJson, encodeAsciiJson, type Machine, sortedJson } from "@seneschal/kernel/log";
import type { DeviceTransition } from "../device/step.ts";
import { murmur3 } from "../placement/murmur3.ts";
import { type ClusterState, emptyCluster } from "./state.ts";
import { type ClusterCommand, type ClusterStep, stepCluster } from "./step.ts";

/** A command on its way into the log. `id` is fresh for every proposal; the same id again is the same proposal. */
export interface ClusterProposal {
  readonly id: string;
  /** Who asks, for the audit log. */
  readonly actor: { readonly id: string; readonly source: string };
  readonly command: ClusterCommand;
}

/** A committed change, the `n`-th of the cluster. */
export interface ClusterRecord {
  readonly n: number;
  readonly at: number;
  readonly actor: ClusterProposal["actor"];
  readonly command: ClusterCommand;
  readonly transitions: readonly DeviceTransition[];
}

/** The cluster state with the newest changes, from which every node can write the audit log, after a snapshot too. */
export interface ClusterLog {
  readonly cluster: ClusterState;
  /** Changes ever. */
  readonly changes: number;
  /** The newest {@link journalLength} changes, oldest first. */
  readonly journal: readonly ClusterRecord[];
}

/** What the proposer is told: {@link ClusterStep} without the state. */
export type ClusterVerdict =
  | { readonly ok: true; readonly changed: boolean; readonly transitions: readonly DeviceTransition[] }
  | Extract<ClusterStep, { readonly ok: false }>;

export const journalLength = 512;

/** {@link stepCluster} as a state machine for a replicated log. Refusals and repeats leave the state object as it was. */
export const clusterMachine: Machine<ClusterLog, ClusterProposal, ClusterVerdict> = {
  initial: { cluster: emptyCluster, changes: 0, journal: [] },
  apply(state, proposal, at) {
    checkArgument("proposal", proposal, "object");
    const { actor, command } = proposal;
    const step = stepCluster(state.cluster, command, at);
    if (!step.ok) return { state, result: step };
    const { changed, transitions } = step;
    if (!changed) return { state, result: { ok: true, changed, transitions } };
    const n = state.changes + 1;
    const journal = [...state.journal.slice(1 - journalLength), { n, at, actor, command, transitions }];
    return { state: { cluster: step.state, changes: n, journal }, result: { ok: true, changed, transitions } };
  },
  encode: (state) => [encodeAsciiJson(state as unknown as Json)],
  decode: (bytes) => decodeAsciiJson(bytes) as unknown as ClusterLog,
  hash(state) {
    checkArgument("state", state, "object");
    const text = sortedJson(state as unknown as Json);
    return `${state.changes}/${murmur3(text, 1).toString(16)}${murmur3(text, 2).toString(16)}`;
  },
};
