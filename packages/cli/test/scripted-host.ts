import type { Host } from "../src/host.ts";

/** A host whose answers are written down beforehand, and whose output is kept. */
export interface ScriptedHost extends Host {
  readonly lines: string[];
  readonly errors: string[];
  /** What stood on the progress line, one after another; empty where it was cleared. */
  readonly shown: string[];
  /** Milliseconds that an end was given. */
  readonly deadlines: number[];
  /** The last line of output as JSON. */
  json(): Record<string, unknown>;
  /** How many times it was told that the process serves. */
  readonly ready: () => number;
  /** What SIGHUP does to a process. */
  hangup(): void;
}

export function scriptedHost(options: {
  readonly cwd: string;
  readonly secrets?: readonly string[];
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  /** When the process is told to end; default never. */
  readonly interrupted?: Promise<void>;
}): ScriptedHost {
  const lines: string[] = [];
  const errors: string[] = [];
  const shown: string[] = [];
  const deadlines: number[] = [];
  let ready = 0;
  const hangups: (() => void)[] = [];
  const secrets = [...(options.secrets ?? [])];
  return {
    lines,
    errors,
    shown,
    deadlines,
    env: options.env ?? {},
    cwd: options.cwd,
    out: (line) => void lines.push(line),
    err: (line) => void errors.push(line),
    stdin: async () => options.stdin ?? "",
    async *readLines() {
      yield* (options.stdin ?? "").split("\n");
    },
    askSecret: async () => secrets.shift() ?? "",
    interrupted: options.interrupted ?? new Promise(() => {}),
    endWithin: (ms) => void deadlines.push(ms),
    onHangup: (callback) => void hangups.push(callback),
    hangup: () => {
      for (const callback of hangups) callback();
    },
    ready: () => ready,
    tellReady: async () => void ready++,
    progress: (line) => void shown.push(line),
    json: () => JSON.parse(lines.at(-1) ?? "") as Record<string, unknown>,
  };
}
