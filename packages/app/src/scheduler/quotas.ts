import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import type { Replicated } from "@seneschal/kernel/log";
import type { Command, QuotaEvent, QuotaState, Rejection, Verdict } from "@seneschal/quota";

/** The replicated quotas as handlers use them: refusals are thrown, with the code that the wire knows. */
export interface Quotas {
  /** Committed, maybe not the newest. */
  state(): QuotaState;
  /** With everything in it that was acknowledged anywhere before. Throws `no_quorum`. */
  read(): Promise<QuotaState>;
  /** Throws the refusal as a `CodedError`, or `no_quorum`, `outcome_unknown`. */
  propose(command: Command): Promise<JsonObject>;
  /** Each judged by itself; refusals are values. */
  proposeAll(commands: readonly Command[]): Promise<readonly Verdict[]>;
  /** Calls back with what every committed entry told, own or foreign, in order. */
  subscribe(callback: (events: readonly QuotaEvent[], state: QuotaState) => void): () => void;
}

export function quotasOn(replicated: Replicated<QuotaState, Command, Verdict>): Quotas {
  const proposeAll = async (commands: readonly Command[]): Promise<readonly Verdict[]> => {
    try {
      const answers = await replicated.propose(commands);
      // another process may have committed them: what was answered must be visible here
      if (answers.some(({ seq }) => seq > replicated.health().seq))
        await replicated.read().catch((error: unknown) => {
          throw isCoded(error, "no_quorum") ? committedElsewhere(error) : error;
        });
      return answers.map(({ result }) => result);
    } catch (error) {
      throw withRetry(error);
    }
  };
  return {
    state: () => replicated.state(),
    read: () =>
      replicated.read().catch((error: unknown) => {
        throw withRetry(error);
      }),
    proposeAll,
    async propose(command) {
      const [verdict] = await proposeAll([command]);
      if (verdict === undefined) throw new Error("a proposal was not answered");
      if (!verdict.ok) throw refusal(verdict);
      return verdict.result;
    },
    subscribe: (callback) =>
      replicated.subscribe(({ results, state }) => {
        const events = results.flatMap((verdict) => (verdict.ok ? verdict.events : []));
        if (events.length > 0) callback(events, state);
      }),
  };
}

/** Proposes; what a quota refuses names the request that it refused. */
export async function proposeTraced(quotas: Quotas, command: Command, requestId: string): Promise<JsonObject> {
  try {
    return await quotas.propose(command);
  } catch (error) {
    if (!isCoded(error, "quota_exceeded")) throw error;
    throw new CodedError("quota_exceeded", error.message, { ...error.details, request_id: requestId });
  }
}

export function refusal({ code, message, details }: Rejection): CodedError {
  return new CodedError(code, message, details);
}

/** To say that nothing was decided would be untrue. */
function committedElsewhere(cause: unknown): CodedError {
  return new CodedError("outcome_unknown", "another process has answered, but this one cannot read the log", {}, cause);
}

const TRANSIENT = [
  "no_quorum",
  "outcome_unknown",
  "log_full",
  "log_failed",
  "log_closed",
  "log_diverged",
  "log_version",
] as const;

/** What may pass says when to come back. */
function withRetry(error: unknown): unknown {
  if (!isCoded(error, ...TRANSIENT)) return error;
  return new CodedError(error.code, error.message, { retry_after: error.code === "no_quorum" ? 2 : 1 }, error);
}
