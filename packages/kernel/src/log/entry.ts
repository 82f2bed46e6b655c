import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { LogEntry, LogErrorCode, LogHead } from "../ports/replicated-log.ts";
import type { Detached } from "./detach.ts";
import { sortedJson } from "./sorted-json.ts";

/** The version of entries that this code writes and understands. */
export const entryVersion = 1;

/** The head of an empty log. */
export const emptyHead: LogHead = { seq: 0, batchId: "" };

/** Gives the lower-case hex SHA-256 of bytes, or of a text's UTF-8 bytes. */
export type Sha256 = (data: string | Uint8Array) => string;

const texts = new WeakMap<LogEntry, string>();

/**
 * The stored form of an entry: canonical JSON (keys sorted, no white space) with snake_case names. Its SHA-256 is the
 * `prev_hash` of the next entry, so that it must be kept as text, byte for byte.
 */
export function encodeEntry(entry: LogEntry): string {
  checkArgument("entry", entry, "object");
  const known = texts.get(entry);
  if (known !== undefined) return known;
  return keepText(entry, entry.commands.map(sortedJson));
}

/** An entry of commands whose canonical JSON is known. */
export function entryOf(about: Omit<LogEntry, "commands">, commands: readonly Detached[]): LogEntry {
  const entry: LogEntry = { commands: commands.map(({ command }) => command), ...about };
  keepText(
    entry,
    commands.map(({ text }) => text),
  );
  return entry;
}

function keepText(entry: LogEntry, commands: readonly string[]): string {
  const { v, seq, batchId, prevHash, at } = entry;
  const text = `{"at":${at},"batch_id":${JSON.stringify(batchId)},"commands":[${commands.join(",")}],"prev_hash":${JSON.stringify(prevHash)},"seq":${seq},"v":${v}}`;
  texts.set(entry, text);
  return text;
}

/** Reads a stored entry. Throws CodedError `log_diverged` when the text is no entry. */
export function decodeEntry(text: string): LogEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CodedError<LogErrorCode>("log_diverged", "a log entry is not JSON", {}, error);
  }
  const members = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const { v, seq, batch_id: batchId, prev_hash: prevHash, at, commands } = members;
  if (
    typeof v !== "number" ||
    typeof seq !== "number" ||
    typeof batchId !== "string" ||
    typeof prevHash !== "string" ||
    typeof at !== "number" ||
    !Array.isArray(commands)
  )
    throw new CodedError<LogErrorCode>("log_diverged", "a log entry has the wrong shape", {});
  const entry: LogEntry = { v, seq, batchId, prevHash, at, commands: commands as readonly JsonObject[] };
  texts.set(entry, text);
  return entry;
}

/** Checks that an entry continues the head it is appended to. Throws CodedError `invalid_entry`. */
export function checkEntry(expectHead: LogHead, entry: LogEntry): void {
  checkArgument("expectHead", expectHead, "object");
  checkArgument("entry", entry, "object");
  if (entry.seq !== expectHead.seq + 1 || entry.batchId === "" || entry.batchId === expectHead.batchId)
    throw new CodedError<LogErrorCode>(
      "invalid_entry",
      `entry ${entry.seq} "${entry.batchId}" does not continue head ${expectHead.seq} "${expectHead.batchId}"`,
    );
}
