import type { Command } from "@seneschal/quota";
import type { Quotas } from "../quotas.ts";

/** Gathers heartbeats in memory and reports them as one command: the log grows by one entry per flush, not per beat. */
export interface Heartbeats {
  beat(node: string, at: number): void;
  flush(commandId: () => string): Promise<void>;
}

export function openHeartbeats(quotas: Quotas): Heartbeats {
  let beats = new Map<string, number>();
  return {
    beat: (node, at) => {
      beats.set(node, at);
    },
    async flush(commandId) {
      if (beats.size === 0) return;
      const reported = beats;
      beats = new Map();
      const command: Command = { kind: "node.heartbeats", id: commandId(), by: "system", beats: [...reported] };
      try {
        await quotas.proposeAll([command]);
      } catch (error) {
        // not lost: they go with the next flush, unless something newer was heard
        for (const [node, at] of reported) if (!beats.has(node)) beats.set(node, at);
        throw error;
      }
    },
  };
}
