import { afterEach, expect, test } from "vitest";
import { mountData, type NfsRig, okOf, openNfsRig } from "./nfs-rig.ts";
import { pattern } from "./rig.ts";

let nfs: NfsRig;
afterEach(() => nfs.dispose());

const untouched = { kind: "DONT_CHANGE", value: undefined } as const;
const nothing = { mode: undefined, uid: undefined, gid: undefined, size: undefined, atime: untouched, mtime: untouched };

/** A new file with bytes that nobody commits. */
async function write(name: string, data: Uint8Array): Promise<void> {
  const { client, handle: dir } = await mountData(nfs);
  const how = { kind: "UNCHECKED", value: nothing } as const;
  const { handle } = okOf(await client.call("CREATE", { where: { dir, name: Buffer.from(name) }, how }));
  okOf(
    await client.call("WRITE", {
      handle: handle as Uint8Array,
      offset: 0n,
      count: data.length,
      stable: "UNSTABLE" as const,
      data,
    }),
  );
}

const away = (is: boolean): void => {
  for (const device of nfs.rig.devices.values()) device.away = is;
};
const failing = () => nfs.rig.node.background.failing();
const metric = async (line: string) => (await nfs.rig.node.metrics.registry.metrics()).includes(line);

test("what nobody commits is durable when its delay is over; while it cannot be, the node is degraded and says by what, and nothing is lost", async () => {
  nfs = await openNfsRig({ nfs: { write_back_delay: "1s" } });
  const { node, clock } = nfs.rig;
  const [one, two] = [pattern(100_000, 1), pattern(50_000, 2)];
  await write("one", one);
  await write("two", two);
  away(true);
  clock.set(clock.now() + 1_000);
  await expect.poll(failing).toEqual(["write-back"]);
  expect(await metric('store_background_failing{step="write-back"} 1')).toBe(true);
  expect(await metric('store_background_failures_total{step="write-back"}')).toBe(true);
  expect(node.monitor.health()).toBe("degraded");
  const said = node.events.query({ severity: "critical", since: 0, limit: 100 });
  expect(said.map(({ details }) => details["step"])).toContain("write-back");
  away(false);
  await expect.poll(failing).toEqual([]);
  expect(await metric('store_background_failing{step="write-back"} 0')).toBe(true);
  expect((await nfs.get("one")).equals(Buffer.from(one))).toBe(true);
  expect((await nfs.get("two")).equals(Buffer.from(two))).toBe(true);
});

test("an end that cannot make durable what was written says so", async () => {
  nfs = await openNfsRig();
  await write("lost", pattern(100_000));
  const { node } = nfs.rig;
  away(true);
  nfs = await nfs.restart();
  expect(node.background.failing()).toEqual(["write-back"]);
});
