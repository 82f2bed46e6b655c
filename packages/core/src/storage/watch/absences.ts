import { checkArgument } from "@seneschal/kernel";
import type { ClusterState } from "../cluster/state.ts";

/** Nodes that are away, by their ids: since when, milliseconds, and whether that was told. */
export type Absences = ReadonlyMap<string, { readonly since: number; readonly told: boolean }>;

/**
 * Looks once more at who of a cluster does not answer: `told` are nodes that have now been away for `afterMs`, once for each absence. One
 * that was taken out is not awaited.
 *
 * @example
 * ```ts
 * import { emptyCluster, stepAbsences, stepCluster } from "@seneschal/core/storage";
 * const node = { id: "n1", address: "a:1", dataAddress: "a:2", peerAddress: "a:3" };
 * const joined = stepCluster(emptyCluster, { kind: "node.join", node }, 0);
 * const state = joined.ok ? joined.state : emptyCluster;
 * const first = stepAbsences(new Map(), state, () => false, 0, 10);
 * console.log(stepAbsences(first.absences, state, () => false, 10, 10).told); // [ 'n1' ]
 * ```
 */
export function stepAbsences(
  before: Absences,
  state: Pick<ClusterState, "nodes">,
  up: (node: string) => boolean,
  now: number,
  afterMs: number,
): { readonly absences: Absences; readonly told: readonly string[] } {
  checkArgument("before", before, "object");
  checkArgument("state", state, "object");
  checkArgument("up", up, "function");
  checkArgument("now", now, "number");
  checkArgument("afterMs", afterMs, "number");
  const away = Object.values(state.nodes).filter((node) => node.state !== "Evicted" && !up(node.id));
  const seen = away.map(({ id }) => {
    const { since, told } = before.get(id) ?? { since: now, told: false };
    return { id, since, told, due: !told && now - since >= afterMs };
  });
  return {
    absences: new Map(seen.map(({ id, since, told, due }) => [id, { since, told: told || due }])),
    told: seen.filter(({ due }) => due).map(({ id }) => id),
  };
}
