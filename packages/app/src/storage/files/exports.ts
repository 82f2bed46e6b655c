import { createHash } from "node:crypto";
import { type ExportEntry, exportAt, type FileCaller, type FileUser, fileError, squashUser } from "@seneschal/core/storage";
import { inRanges } from "../../platform/index.ts";
import type { ExportSettings } from "./settings.ts";

/** An export that clients may be let to. */
export interface Export extends ExportSettings {
  /** The same as long as the path is. */
  readonly fsid: bigint;
  admits(address: string): boolean;
}

/** The exports of a node: who is not named by one meets `EACCES`, whether or not it is there. */
export interface Exports {
  /** The export of a path, and the names that lead from its root to there. */
  byPath(caller: FileCaller, path: string): { readonly from: Export; readonly names: readonly string[] };
  /** Throws `ESTALE` for what is not exported any more. */
  byFsid(caller: FileCaller, fsid: bigint): Export;
  visible(caller: FileCaller): readonly ExportEntry[];
}

export function openExports(settings: readonly ExportSettings[]): Exports {
  const all: readonly Export[] = settings.map((one) => {
    const digest = createHash("sha256").update(one.path).digest();
    return { ...one, fsid: digest.readBigUInt64BE(0) >> 1n, admits: inRanges(one.clients) };
  });
  const denied = () => fileError("EACCES", "nothing of that is exported to this client");
  return {
    byPath({ address }, path) {
      const found = exportAt(
        all.filter((one) => one.admits(address)),
        path,
      );
      if (found === undefined) throw denied();
      return found;
    },
    byFsid({ address }, fsid) {
      const found = all.find((one) => one.fsid === fsid);
      if (found === undefined) throw fileError("ESTALE", "the file system is not exported any more");
      if (!found.admits(address)) throw denied();
      return found;
    },
    visible: ({ address }) =>
      all.filter((one) => one.admits(address)).map(({ path, clients }) => ({ path, clients: [...clients] })),
  };
}

/** The user that a caller is on an export. */
export function userOf({ squash, anon_uid, anon_gid }: Export, caller: FileCaller): FileUser {
  return squashUser(caller, { squash, anonUid: anon_uid, anonGid: anon_gid });
}
