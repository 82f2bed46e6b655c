import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdmittedDevice, openAdmittedDevice } from "@seneschal/adapters/devices";
import { blobDeviceSuite } from "@seneschal/kernel/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { devicePlace } from "./device-place.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "seneschal-roots-"));
  root = join(base, "disks");
  await mkdir(root);
  await mkdir(join(base, "elsewhere"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const ask = (directory: string, more: Partial<AdmittedDevice> = {}) =>
  openAdmittedDevice({ id: "d", directory, capacityBytes: 1 << 20, roots: [root], taken: [], known: false, ...more }).then(
    async (device) => {
      await device.close();
      return "opened";
    },
    (error: { code: string }) => error.code,
  );

test("a device lies strictly below a directory of the settings, by its name and where links lead; else nothing is made", async () => {
  await symlink(join(base, "elsewhere"), join(root, "link"));
  await symlink(join(base, "nowhere"), join(root, "dangling"));
  await symlink(root, join(base, "alias"));
  for (const [directory, outcome] of [
    [root, "directory_not_allowed"],
    [base, "directory_not_allowed"],
    [join(base, "elsewhere"), "directory_not_allowed"],
    [`${root}-more/x`, "directory_not_allowed"],
    [`${root}/../elsewhere`, "directory_not_allowed"],
    [`${root}/x/`, "directory_not_allowed"],
    [`${root}/x\0`, "directory_not_allowed"],
    ["disks/x", "directory_not_allowed"],
    ["", "directory_not_allowed"],
    [join(root, "link"), "directory_not_allowed"],
    [join(root, "link", "x"), "directory_not_allowed"],
    [join(root, "dangling"), "device_unavailable"],
    [join(root, "dangling", "x"), "device_unavailable"],
  ] as const)
    expect([directory, await ask(directory)]).toEqual([directory, outcome]);
  expect(await readdir(join(base, "elsewhere"))).toEqual([]);
  expect((await readdir(root)).sort()).toEqual(["dangling", "link"]);
  expect(await ask(join(root, "x"), { roots: [] })).toBe("directory_not_allowed");
  expect(await ask(join(root, "x"))).toBe("opened");
  expect(await ask(join(base, "alias", "y"), { roots: [join(base, "alias")] })).toBe("opened");
});

test("a directory is new, empty, or was begun for the same device; it never is, contains or lies in another one's", async () => {
  await mkdir(join(root, "full"));
  await writeFile(join(root, "full", "letter"), "dear");
  expect(await ask(join(root, "full"))).toBe("directory_in_use");
  await mkdir(join(root, "damaged"));
  await writeFile(join(root, "damaged", "superblock"), "dear");
  expect(await ask(join(root, "damaged"))).toBe("directory_in_use");
  expect(await ask(join(root, "a"))).toBe("opened");
  expect(await ask(join(root, "a"))).toBe("opened");
  expect(await ask(join(root, "a"), { id: "other" })).toBe("device_mismatch");
  for (const taken of [join(root, "b"), join(root, "b", "inner"), join(root, "b", "..", "b"), root])
    expect([taken, await ask(join(root, "b"), { taken: [taken] })]).toEqual([taken, "directory_in_use"]);
});

test("a device that was opened before must still be there: nothing is made in its place", async () => {
  expect(await ask(join(root, "gone"), { known: true })).toBe("device_unavailable");
  expect(await readdir(root)).toEqual([]);
  expect(await ask(join(root, "a"))).toBe("opened");
  expect(await ask(join(root, "a"), { known: true })).toBe("opened");
});

describe("a device that was admitted", () => {
  blobDeviceSuite({ test, equal: (a, b, message) => expect(a, message).toEqual(b) }, (capacityBytes) => {
    let known = false;
    return devicePlace(async (directory, root) => {
      const device = await openAdmittedDevice({ id: "d1", directory, capacityBytes, roots: [root], taken: [], known });
      known = true;
      return device;
    });
  });
});
