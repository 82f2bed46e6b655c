import type { Logger } from "@seneschal/adapters/logging";
import { CodedError } from "@seneschal/kernel";
import type { LogErrorCode, LogStatus, ReplicatedLog } from "@seneschal/kernel/ports";

/** How full the engine of the log is, and what must wait for that. */
export interface LogSpace {
  /** Asks the log; what it does not say is as it was. */
  look(): Promise<void>;
  /** The newest answer of the log. */
  status(): LogStatus | undefined;
  /** Used bytes over the engine's limit; 0 for an engine that has none. */
  fraction(): number;
  /** Throws `log_full` while new work must wait; what ends or releases work is never asked this. */
  requireRoom(): void;
}

/** From here on the operator is warned. */
export const WARN_AT = 0.6;
/** From here on no new work is taken, so that what runs can still end: 80 %. */
const REFUSE_AT = 0.8;

export function openLogSpace(reads: Pick<ReplicatedLog, "status">, log: Pick<Logger, "warn" | "info">): LogSpace {
  let newest: LogStatus | undefined;
  let warned = false;
  const fraction = (): number => {
    const { sizeBytes = 0, quotaBytes = Number.POSITIVE_INFINITY } = newest ?? {};
    return sizeBytes / quotaBytes;
  };
  return {
    async look() {
      const status = await reads.status();
      if (!status.available || status.sizeBytes === 0) return;
      newest = status;
      const high = fraction() >= WARN_AT;
      const facts = { used: status.sizeBytes, limit: status.quotaBytes };
      if (high && !warned) log.warn(facts, "the log's storage fills up: new work is refused from 80 % on");
      if (!high && warned) log.info(facts, "the log's storage has room again");
      warned = high;
    },
    status: () => newest,
    fraction,
    requireRoom() {
      if (fraction() < REFUSE_AT) return;
      const percent = Math.floor(fraction() * 100);
      throw new CodedError<LogErrorCode>(
        "log_full",
        `the log's storage is ${percent} % full: no new work until there is room; running work is not touched`,
        { retry_after: 60, used_bytes: newest?.sizeBytes ?? 0, limit_bytes: newest?.quotaBytes ?? 0 },
      );
    },
  };
}
