import type { ReplicatedLog } from "../ports/replicated-log.ts";

/** One empty log. */
export interface LogPlace {
  /** Opens a handle. Called again after a close where `durable`, and while another is open where `shared`. */
  open(): Promise<ReplicatedLog>;
  destroy(): Promise<void>;
}

/** The adapter under test. `seed` replays the generated tests; `rounds` (default 60) deepens them. */
export interface LogUnderTest {
  readonly capabilities: {
    /** What was acknowledged is there after every handle is closed. */
    readonly durable: boolean;
    /** Several handles can be open on one log. */
    readonly shared: boolean;
  };
  readonly place: () => Promise<LogPlace>;
  readonly seed?: number;
  readonly rounds?: number;
}
