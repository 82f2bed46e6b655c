import { type Holder, openSequencer, type SequencerLease } from "@seneschal/adapters/log";
import { CodedError } from "@seneschal/kernel";
import type { Proposed, Replicated } from "@seneschal/kernel/log";
import type { Command, QuotaState, Verdict } from "@seneschal/quota";
import type { Background } from "../../platform/index.ts";

type Quota = Replicated<QuotaState, Command, Verdict>;

export interface ForwardOptions {
  readonly replicated: Quota;
  readonly lease: SequencerLease;
  readonly self: { readonly id: string; readonly address: string };
  /** The token of the role `peer`, the same in all processes. */
  readonly token: string;
  readonly timeoutMs: number;
  readonly background: Pick<Background, "every">;
}

/** Where the processes of one log reach each other. */
const FORWARD_PATH = "/api/v1/internal/proposals";

/**
 * The replicated quotas with proposals forwarded to the elected process while it answers, for speed: one process's batches
 * instead of a race for the head of the log. Whatever goes wrong on the way, the same commands are proposed directly;
 * their ids make sure that nothing happens twice.
 */
export async function forwarding(options: ForwardOptions): Promise<Quota & { holder(): Holder | undefined }> {
  const { replicated, lease, self, token, timeoutMs, background } = options;
  const sequencer = await openSequencer({
    replicated,
    lease,
    self,
    every: (ms, renew) => background.every("sequencer lease", ms, renew),
    async forward(to, commands) {
      const response = await fetch(to.address.replace(/\/+$/, "") + FORWARD_PATH, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ commands }),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw new CodedError("service_unavailable", `the sequencer answered ${response.status}`);
      const { answers } = (await response.json()) as { answers: readonly Proposed<Verdict>[] };
      return answers;
    },
  });
  return {
    ...replicated,
    propose: (commands) => sequencer.propose(commands),
    holder: () => sequencer.holder(),
    async close() {
      await sequencer.close();
      await replicated.close();
    },
  };
}
