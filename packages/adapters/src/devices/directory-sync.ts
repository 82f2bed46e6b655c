import { close, fsync, open } from "node:fs";
import { promisify } from "node:util";

const [openFile, syncFile, closeFile] = [promisify(open), promisify(fsync), promisify(close)];

/** Makes the names in a directory durable. */
interface DirectorySync {
  /** Resolves when every change of the directory made before this call is durable. Throws what the file system throws. */
  sync(): Promise<void>;
  /** Resolves when no sync is running or due. */
  idle(): Promise<void>;
}

/** One sync runs at a time; all who ask meanwhile share the next one, which begins after they asked. */
export function createDirectorySync(directory: string): DirectorySync {
  let last: Promise<void> = Promise.resolve();
  let due: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    due = undefined;
    const file = await openFile(directory, "r");
    try {
      await syncFile(file);
    } finally {
      await closeFile(file);
    }
  };
  return {
    sync() {
      if (due !== undefined) return due;
      // A sync that failed says nothing about the next one.
      due = last.catch(() => undefined).then(run);
      last = due;
      return due;
    },
    idle: () => last.catch(() => undefined),
  };
}
