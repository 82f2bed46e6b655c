import fc from "fast-check";
import { mountData, type NfsRig, openNfsRig, statusName } from "./nfs-rig.ts";
import { pattern, type Rig } from "./rig.ts";

/** A step of a history by the network file system, over the names that S3's steps use too. */
export type FileStep =
  | { readonly do: "write"; readonly name: string; readonly offset: number; readonly size: number }
  | { readonly do: "truncate"; readonly name: string; readonly size: number }
  | { readonly do: "rename"; readonly name: string; readonly to: string }
  | { readonly do: "unlink"; readonly name: string };

const name = fc.constantFrom("a", "a", "e", "b", "b/c");

/** Steps that change objects by files. */
export const fileStep = fc.oneof(
  fc.record({ do: fc.constant("write"), name, offset: fc.constantFrom(0, 5000), size: fc.constantFrom(1, 6000) }),
  fc.record({ do: fc.constant("truncate"), name, size: fc.constantFrom(0, 3000, 9000) }),
  fc.record({ do: fc.constant("rename"), name, to: name }),
  fc.record({ do: fc.constant("unlink"), name }),
) as fc.Arbitrary<FileStep>;

const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const settings = { mode: 0o644, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };

/** Does such steps over a real mount; what cannot be done is left. */
export async function createFileRun(
  rig: Rig,
  bucket: string,
): Promise<{ step(step: FileStep): Promise<string>; close(): Promise<void> }> {
  const nfs: NfsRig = await openNfsRig({ rig, exports: [{ bucket }] });
  const { client, walk } = await mountData(nfs);
  const split = async (path: string) => {
    const at = path.lastIndexOf("/");
    return { dir: await walk(path.slice(0, Math.max(at, 0))), name: Buffer.from(path.slice(at + 1)) };
  };
  const run = async (step: FileStep): Promise<{ readonly status: number }> => {
    if (step.do === "rename") return client.call("RENAME", { from: await split(step.name), to: await split(step.to) });
    if (step.do === "unlink") return client.call("REMOVE", await split(step.name));
    if (step.do === "write")
      await client.call("CREATE", { where: await split(step.name), how: { kind: "UNCHECKED", value: settings } });
    const handle = await walk(step.name);
    if (step.do === "truncate")
      return client.call("SETATTR", {
        handle,
        attributes: { ...settings, mode: undefined, size: BigInt(step.size) },
        guard: undefined,
      });
    const data = pattern(step.size, step.offset + step.size);
    const { offset } = step;
    return client.call("WRITE", { handle, offset: BigInt(offset), count: data.length, stable: "FILE_SYNC", data });
  };
  return {
    step: (step) => run(step).then(({ status }) => statusName(status), String),
    close: () => nfs.leave(),
  };
}
