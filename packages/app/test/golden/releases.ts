import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = new URL(".", import.meta.url).pathname;

/** The version under test, whose directory is written when it is asked for: what the next release leaves behind. */
export const TODAY = "today";

/** Every release that has a directory here, and today. */
export const releases: readonly string[] = [
  ...readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name),
  TODAY,
];

/** Where the directory of a release is; that of today is written now, by the same function that writes a release's. The caller removes it. */
export async function directoryOf(release: string, write: (directory: string) => Promise<void>): Promise<string> {
  if (release !== TODAY) return join(folder, release);
  const directory = mkdtempSync(join(tmpdir(), "golden-today-"));
  await write(directory);
  return directory;
}
