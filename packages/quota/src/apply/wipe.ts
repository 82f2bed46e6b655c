import { type ComputeNode, layOut } from "../state/node.ts";
import type { Work } from "./work.ts";

/** The reason of a node that waits to be wiped. */
export const TO_WIPE = "to be wiped";

/** What a node is that comes back into service. */
export function inService(node: ComputeNode): "ready" | "booting" {
  return node.unwiped ? "booting" : "ready";
}

/** Nodes that must be wiped before anybody else gets them. Those in service leave it until then, but for a claim's, which stay its claimant's. */
export function mustBeWiped(work: Work, ids: readonly string[]): void {
  work.draft.nodes = work.draft.nodes.setAll(
    ids.map((id) => {
      const node = work.draft.nodes.get(id) as ComputeNode;
      const leaves = node.state === "ready" && node.claim === null;
      const out = leaves ? ({ state: "booting", stateReason: TO_WIPE } as const) : {};
      return [id, layOut({ ...node, ...out, unwiped: true, edits: node.edits + 1 })] as const;
    }),
  );
}
