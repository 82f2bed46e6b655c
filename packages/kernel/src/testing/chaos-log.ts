import { CodedError } from "../errors.ts";
import type { AppendResult, LogEntry, LogErrorCode, LogHead, ReplicatedLog } from "../ports/replicated-log.ts";

/** What the network did to one append. */
export type AppendFault = "none" | "request_dropped" | "reply_dropped" | "duplicated" | "delayed" | "rival";

/**
 * A log behind a network that loses, repeats and delays. `pick` draws a fault for every append:
 *
 * - `request_dropped`, `reply_dropped`: nothing, or everything, happened; the caller gets `outcome_unknown` either way.
 * - `duplicated`: the request arrives twice.
 * - `delayed`: the caller gets `outcome_unknown` at once, the request arrives behind the next append.
 * - `rival`: another writer appends first (`rival` makes its entry for the given head).
 */
export function chaosLog(
  log: ReplicatedLog,
  pick: () => AppendFault,
  rival: (head: LogHead) => Promise<LogEntry | undefined> = async () => undefined,
): ReplicatedLog {
  const late: { readonly head: LogHead; readonly entry: LogEntry }[] = [];
  const unknown = (): CodedError<LogErrorCode> => new CodedError("outcome_unknown", "the connection was lost");
  const deliverLate = async (): Promise<void> => {
    for (const { head, entry } of late.splice(0)) await log.append(head, entry);
  };
  const append = async (head: LogHead, entry: LogEntry): Promise<AppendResult> => {
    const fault = pick();
    switch (fault) {
      case "none":
        return log.append(head, entry);
      case "request_dropped":
        throw unknown();
      case "reply_dropped":
        await log.append(head, entry);
        throw unknown();
      case "duplicated": {
        const result = await log.append(head, entry);
        await log.append(head, entry);
        return result;
      }
      case "delayed":
        late.push({ head, entry });
        throw unknown();
      case "rival": {
        const other = await rival(head);
        if (other !== undefined) await log.append(head, other);
        return log.append(head, entry);
      }
      default:
        return fault satisfies never;
    }
  };
  return {
    ...log,
    append: async (head, entry) => {
      const before = late.length;
      try {
        return await append(head, entry);
      } finally {
        if (before > 0) await deliverLate();
      }
    },
  };
}
