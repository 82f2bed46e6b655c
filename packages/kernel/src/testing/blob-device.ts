import type { BlobDevice } from "../ports/blob-device.ts";
import { refuses, type SuiteRunner } from "./suite.ts";

/** A device under test, with the harm that a test may do to it behind its back. */
export interface DeviceUnderTest {
  readonly device: BlobDevice;
  /** Flips one bit of the stored extent; `bit` counts from the first stored bit, modulo the stored length. */
  damage(extent: string, bit: number): Promise<void>;
  /** Closes it as a crash would and opens it again. */
  reopen(): Promise<BlobDevice>;
  dispose(): Promise<void>;
}

/** The laws of the BlobDevice port. `open` makes an empty device of the given capacity in bytes. */
export function blobDeviceSuite(runner: SuiteRunner, open: (capacityBytes: number) => Promise<DeviceUnderTest>): void {
  const bytes = (length: number, seed = 1) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) & 255);
  const test = (name: string, body: (d: DeviceUnderTest) => Promise<void>, capacity = 1 << 20) =>
    runner.test(name, async () => {
      const under = await open(capacity);
      try {
        await body(under);
      } finally {
        await under.dispose();
      }
    });
  const all = async (device: BlobDevice) => {
    const names: string[] = [];
    for await (const name of device.list()) names.push(name);
    return names.sort();
  };

  test("what was written reads back equal, also empty, also after a crash", async (under) => {
    for (const [i, length] of [0, 1, 4096, 70_001].entries()) await under.device.write(`e${i}`, bytes(length));
    const again = await under.reopen();
    for (const [i, length] of [0, 1, 4096, 70_001].entries()) runner.equal(await again.read(`e${i}`), bytes(length));
  });

  test("an absent extent is undefined, not there, and deletes without error", async ({ device }) => {
    runner.equal(await device.read("nope"), undefined);
    runner.equal(await device.has("nope"), false);
    await device.delete("nope");
  });

  test("a deleted extent is gone and its space comes back", async ({ device }) => {
    const before = (await device.usage()).usedBytes;
    await device.write("a", bytes(5000));
    runner.equal((await device.usage()).usedBytes >= before + 5000, true);
    await device.delete("a");
    runner.equal(await device.read("a"), undefined);
    runner.equal((await device.usage()).usedBytes, before);
  });

  test("a name is written once", async ({ device }) => {
    await device.write("a", bytes(10));
    await refuses(runner, "extent_exists", () => device.write("a", bytes(10, 2)));
    runner.equal(await device.read("a"), bytes(10));
  });

  test("list names every extent exactly once", async ({ device }) => {
    const names = Array.from({ length: 40 }, (_, i) => `${(i % 7).toString(16)}f.${i}-x`).sort();
    await Promise.all(names.map((name) => device.write(name, bytes(3))));
    runner.equal(await all(device), names);
  });

  test("every flipped bit of a stored extent is refused, never returned", async (under) => {
    await under.device.write("a", bytes(9));
    for (let bit = 0; bit < 8 * 64; bit++) {
      await under.damage("a", bit);
      await refuses(runner, "extent_corrupt", () => under.device.read("a"));
      await under.damage("a", bit);
    }
    runner.equal(await under.device.read("a"), bytes(9));
  });

  test("a full device refuses with nothing written", async ({ device }) => {
    await device.write("a", bytes(5000));
    const { usedBytes } = await device.usage();
    await refuses(runner, "device_full", () => device.write("b", bytes(6000)));
    runner.equal(await device.has("b"), false);
    runner.equal((await device.usage()).usedBytes, usedBytes);
  }, 10_000);

  test("concurrent writers never take it over its capacity", async ({ device }) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => device.write(`w${i}`, bytes(1000))));
    const { usedBytes, capacityBytes } = await device.usage();
    runner.equal(usedBytes <= capacityBytes, true);
    runner.equal((await all(device)).length, outcomes.filter((o) => o.status === "fulfilled").length);
  }, 10_000);

  test("names that could leave the device are refused", async ({ device }) => {
    for (const name of ["", ".", "..", "../x", "a/b", "A", ".hidden", "x".repeat(201), "a\0"])
      await refuses(runner, "invalid_extent_name", () => device.write(name, bytes(1)));
  });

  test("an extent may be read into memory of its length; of any other length that is left alone", async ({ device }) => {
    await device.write("a", bytes(5000));
    const into = new Uint8Array(5000);
    runner.equal(await device.read("a", into), bytes(5000));
    for (const length of [0, 4999, 5001]) {
      const other = new Uint8Array(length);
      runner.equal(await device.read("a", other), bytes(5000));
      runner.equal(other, new Uint8Array(length));
    }
    const shared = new Uint8Array(new SharedArrayBuffer(6000), 500, 5000);
    runner.equal([...((await device.read("a", shared)) ?? [])], [...bytes(5000)]);
  });

  test("a healthy device has nothing to report about itself", async ({ device }) => {
    runner.equal(await device.inspect(), []);
  });
}
