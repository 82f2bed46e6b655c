import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { listFiles, readBytes, readText, writeAside } from "@seneschal/adapters/files";
import { CodedError } from "@seneschal/kernel";
import { continuesPieces, decodeState, encodePieces, type QuotaState } from "@seneschal/quota";

/** A backup as it was read. */
interface SavedState {
  readonly state: QuotaState;
  readonly text: string;
  readonly hash: string;
  /** The archived pieces of the audit chain before the state's part of it. Absent in a backup of an earlier version, which left them out. */
  readonly audit: readonly string[] | undefined;
}

/** Copies of the whole state in a directory, each with its hash in its name, and of the audit chain's archive beside it. */
export interface Backups {
  write(state: QuotaState, audit: AsyncIterable<Uint8Array>, now: number): Promise<string>;
  /** The one that was written last. Throws `not_found`. */
  newest(): Promise<string>;
  /** Reads one back and recomputes its hash and those of its audit chain. Throws `not_found`, `snapshot_invalid` when it does not verify. */
  read(id: string): Promise<SavedState>;
}

/** The time of writing, milliseconds, and the beginning of the state's hash. */
const ID = /^[0-9]{1,15}-[0-9a-f]{32}$/;

export function openBackups(directory: string): Backups {
  const file = (id: string, kind: "state" | "audit"): string => `${id}.${kind}`;
  return {
    async write(state, audit, now) {
      const partial = `${randomUUID()}.partial`;
      const hash = createHash("sha256");
      const chain = await writeAside(directory, file(partial, "audit"), lines(audit));
      const whole = await writeAside(
        directory,
        file(partial, "state"),
        (function* () {
          for (const piece of encodePieces(state)) {
            hash.update(piece);
            yield piece;
          }
        })(),
      );
      const id = `${now}-${hash.digest("hex").slice(0, 32)}`;
      // The state last: where it is, all of the backup is.
      await chain.moveTo(file(id, "audit"));
      await whole.moveTo(file(id, "state"));
      return id;
    },
    async newest() {
      const ids = (await listFiles(directory))
        .filter((name) => name.endsWith(".state"))
        .map((name) => name.slice(0, -".state".length));
      const [newest] = ids.filter((id) => ID.test(id)).sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
      if (newest === undefined) throw new CodedError("not_found", "there is no backup yet");
      return newest;
    },
    async read(id) {
      if (!ID.test(id)) throw new CodedError("not_found", `backup not found: ${id}`);
      const bytes = await readBytes(join(directory, file(id, "state"))).catch((error: unknown) => {
        throw new CodedError("not_found", `backup not found: ${id}`, {}, error);
      });
      const hash = sha256(bytes);
      const damaged = () => new CodedError("snapshot_invalid", `backup ${id} is damaged`);
      // Of the bytes, not of the state: one of an earlier release is encoded otherwise today.
      if (hash.slice(0, 32) !== id.split("-")[1]) throw damaged();
      const state = decodeState(bytes);
      const archived = await readText(join(directory, file(id, "audit"))).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      const audit = archived?.split("\n").slice(0, -1) ?? [];
      const whole = continuesPieces(state, audit);
      if (archived !== undefined && !whole) throw damaged();
      return { state, text: bytes.toString("utf8"), hash, audit: whole ? audit : undefined };
    },
  };
}

/** Archived pieces are canonical JSON: one a line. */
async function* lines(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) yield Buffer.concat([piece, Buffer.from("\n")]);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
