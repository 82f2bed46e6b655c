import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { checkArgument } from "@seneschal/kernel";

/**
 * Calls back when the content of a file changed since the last look: by content, because what replaces certificates renames, links
 * and touches as it likes. A file that cannot be read counts as one with another content. `files` is asked anew each time. What changes while
 * `changed` is at work is another change, and so is a file that is named for the first time: nobody knows what was read of it.
 */
export async function watchFiles(
  files: () => readonly string[],
  everyMs: number,
  changed: () => Promise<void>,
): Promise<{ close(): void }> {
  checkArgument("files", files, "function");
  checkArgument("everyMs", everyMs, "number");
  checkArgument("changed", changed, "function");
  const look = async (): Promise<string> => {
    const hash = createHash("sha256");
    for (const path of files()) hash.update(`${path}\0${await contentHash(path)}\0`);
    return hash.digest("hex");
  };
  let known = await look();
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    try {
      const now = await look();
      if (now === known) return;
      known = now;
      await changed();
    } finally {
      busy = false;
    }
  }, everyMs).unref();
  return { close: () => clearInterval(timer) };
}

/** What tells the content of a file from another: its hash, or `-` where it cannot be read. */
export async function contentHash(path: string): Promise<string> {
  const content = await readFile(path).catch(() => undefined);
  return content === undefined ? "-" : createHash("sha256").update(content).digest("hex");
}
