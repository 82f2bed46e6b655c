import { CodedError } from "@seneschal/kernel";

/**
 * A place that keeps backups, each a few named files under an id.
 *
 * Laws: a file is there whole, or not at all; `write` replaces; `read` of what is absent, and of that alone,
 * rejects with `backup_file_absent`; `list` is sorted and names every id that holds a file; `remove` of what is absent does nothing.
 */
export interface BackupTarget {
  /** Streams one file; at least one byte. */
  write(id: string, file: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  read(id: string, file: string): AsyncIterable<Uint8Array>;
  list(): Promise<readonly string[]>;
  remove(id: string): Promise<void>;
}

/** What an id may be, for every target; foreign names beside the backups are passed over. */
export const backupId = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;

/** What `read` of every target says of a file that is not there, which is another thing than one that could not be read. */
export const fileAbsent = (id: string, file: string, cause: unknown): CodedError =>
  new CodedError("backup_file_absent", `backup ${id} has no ${file}`, { backup: id, file }, cause);
