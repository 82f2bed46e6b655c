import { chmod, mkdir, rename, stat, writeFile } from "node:fs/promises";
import { CodedError } from "@seneschal/kernel";

/** Modes are not there on Windows: its access lists decide. */
const hasModes = process.platform !== "win32";

/**
 * Makes a directory of data that only its owner enters, and shuts an existing one to the world: of a data directory's files the
 * names alone say much. What its group may do is the operator's, as for those who make backups. Throws `config_invalid` for a
 * directory that is open to the world and another user's.
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const mode = await modeOf(path);
  if ((mode & 0o007) === 0) return;
  try {
    await chmod(path, mode & 0o770);
  } catch (error) {
    throw new CodedError("config_invalid", `${path} is open to everybody on the machine: chmod o-rwx ${path}`, {}, error);
  }
}

/**
 * Refuses a key that the world may read or its group may change, as `config_invalid`. Its group may read it: so are secrets mounted into
 * containers.
 */
export async function requirePrivateKey(path: string): Promise<void> {
  if (((await modeOf(path)) & 0o027) === 0) return;
  throw new CodedError("config_invalid", `${path} is a key that others may read or change: chmod 600 ${path}`);
}

/** Writes a file whole or not at all, on the disk when it resolves. `mode`: default for its owner alone. */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const next = `${path}.new`;
  await writeFile(next, text, { mode, flush: true });
  await chmod(next, mode);
  await rename(next, path);
}

/** The same of a file that is there, with the mode that it has. */
export async function rewriteFile(path: string, text: string): Promise<void> {
  await replaceFile(path, text, (await stat(path)).mode & 0o777);
}

async function modeOf(path: string): Promise<number> {
  return hasModes ? (await stat(path)).mode & 0o777 : 0;
}
