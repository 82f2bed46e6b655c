import { checkOptions } from "@seneschal/kernel";
import { type DestinationStream, type Logger as Pino, pino } from "pino";
import { redact } from "./redact.ts";

/** Structured logging. Fields are snake_case; an error goes under `error`. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** The same log with fields on every line. */
  child(fields: object): Logger;
}

export interface LoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent";
  /** Where lines go; default standard output. */
  readonly destination?: DestinationStream;
}

/** JSON lines, time in RFC 3339, level by name, every record through {@link redact}. */
export function openLogger(input: LoggerOptions = {}): Logger {
  checkOptions("input", input, { level: ["debug", "info", "warn", "error", "silent", undefined], destination: "object?" });
  const { level = "info", destination } = input;
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (record: Record<string, unknown>) => redact(record) as Record<string, unknown>,
    },
    serializers: {},
    messageKey: "message",
  };
  const root = destination === undefined ? pino(options) : pino(options, destination);
  const all: Pino[] = [root];
  const child = root.child.bind(root);
  root.child = ((...given: Parameters<typeof child>) => {
    const one = child(...given);
    all.push(one as unknown as Pino);
    return one;
  }) as typeof root.child;
  families.set(root, all);
  return root;
}

const families = new WeakMap<Logger, readonly Pino[]>();

/** From now on a log that {@link openLogger} opened, and its children, write from this level up. */
export function setLogLevel(log: Logger, level: NonNullable<LoggerOptions["level"]>): void {
  for (const one of families.get(log) ?? []) one.level = level;
}
