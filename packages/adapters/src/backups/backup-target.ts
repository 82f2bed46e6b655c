/**
 * A place that keeps backups, each a few named files under an id.
 *
 * Laws: a file is there whole, or not at all; `write` replaces; `read` of what is absent rejects; `list` is sorted and
 * names every id that holds a file; `remove` of what is absent does nothing.
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
