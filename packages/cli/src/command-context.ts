import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";

/** What every command is given: the host, and how results are written. */
export interface CommandContext {
  readonly host: Host;
  /** Writes a result: `value` under `--json`, as `write` writes it, else `text`, by default `key: value` lines. */
  result(value: unknown, text?: string, write?: (value: unknown) => string): void;
  /** Sets the code that the process ends with. */
  exit(code: ExitCode): void;
}
