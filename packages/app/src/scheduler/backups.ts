import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "@seneschal/core";
import { decodeState, encodePieces, type QuotaState, stateHash } from "@seneschal/quota";

/** Copies of the whole state in a directory, each with its hash in its name. */
export interface Backups {
  write(state: QuotaState, now: number): Promise<string>;
  /** Reads one back and recomputes both hashes. Throws `not_found`, `snapshot_invalid` when it does not verify. */
  read(id: string): Promise<{ readonly text: string; readonly hash: string }>;
}

export function openBackups(directory: string): Backups {
  const file = (id: string): string => join(directory, `${id}.state`);
  return {
    async write(state, now) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const partial = file(`${randomUUID()}.partial`);
      const hash = createHash("sha256");
      const handle = await open(partial, "wx", 0o600);
      try {
        for (const piece of encodePieces(state)) {
          hash.update(piece);
          await handle.writeFile(piece);
        }
        await handle.sync();
      } finally {
        await handle.close();
      }
      const id = `${now}-${hash.digest("hex").slice(0, 32)}`;
      await rename(partial, file(id));
      return id;
    },
    async read(id) {
      if (!/^[0-9]{1,15}-[0-9a-f]{32}$/.test(id)) throw new CodedError("not_found", `backup not found: ${id}`);
      const bytes = await readFile(file(id)).catch((error: unknown) => {
        throw new CodedError("not_found", `backup not found: ${id}`, {}, error);
      });
      const hash = sha256(bytes);
      if (hash.slice(0, 32) !== id.split("-")[1] || stateHash(decodeState(bytes)) !== hash)
        throw new CodedError("snapshot_invalid", `backup ${id} is damaged`);
      return { text: bytes.toString("utf8"), hash };
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
