import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-places-"));
  await prepareData(join(root, "data"), systemRandom);
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));

const token = "token-of-root";
const device = (id: string, directory = join(root, id), pool = "fast") => ({ id, pool, directory, capacity_bytes: 64 << 20 });
const settings = (devices: readonly object[], more: object = {}) =>
  processSettings.parse({
    services: ["storage"],
    data_dir: join(root, "data"),
    storage: {
      server: { port: 0 },
      s3: { port: 0 },
      pools: [{ id: "fast", class: "ssd", durability: { copies: 2 } }],
      cluster: { sample: "100ms" },
      admin: { tokens: [{ id: "root", role: "cluster-admin", sha256: createHash("sha256").update(token).digest("hex") }] },
      devices,
      ...more,
    },
  });
const start = (devices: readonly object[]) =>
  startProcess(settings(devices), { serve, serveS3, log: openLogger({ level: "silent" }), version: "test" });
const call = async (url: string, method: string, path: string) => {
  const reply = await fetch(`${url}/ui/api/${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  return (await reply.json()) as any;
};

describe("settings of devices are refused by name before anything is opened", () => {
  const refused = (devices: readonly object[], more: object = {}) => {
    try {
      settings(devices, more);
      return "taken";
    } catch (error) {
      return (error as { issues: readonly { path: readonly (string | number)[] }[] }).issues.map(({ path }) => path.join("."));
    }
  };
  test("two devices of one id", () =>
    expect(refused([device("a"), device("b"), device("a", "/x")])).toEqual(["storage.devices.2.id"]));
  test("two pools of one id", () =>
    expect(
      refused([], {
        pools: [
          { id: "p", class: "ssd" },
          { id: "p", class: "hdd" },
        ],
      }),
    ).toEqual(["storage.pools.1.id"]));
  test("a directory that is, contains or lies in that of another device", () => {
    for (const other of ["/srv/a", "/srv/a/", "/srv/a/b", "/srv", "/srv/x/../a", "/"])
      expect([other, refused([device("a", "/srv/a"), device("b", other)])]).toEqual([other, ["storage.devices.1.directory"]]);
    expect(refused([device("a", "/srv/a"), device("b", "/srv/ab")])).toBe("taken");
  });
});

describe("a start", () => {
  it("makes no device again of the empty directory where one was, as a disk looks that is not mounted", async () => {
    const all = ["d0", "d1", "d2"].map((id) => device(id));
    await (await start(all)).stop();
    await rename(join(root, "d1"), join(root, "elsewhere"));
    for (const prepare of [async () => {}, () => mkdir(join(root, "d1"))]) {
      await prepare();
      await expect(start(all)).rejects.toMatchObject({
        code: "device_unavailable",
        message: expect.stringMatching(/^storage\.devices\.1\.directory: device d1 is no longer at .*mount the disk/),
      });
    }
    expect(await readdir(join(root, "d1"))).toEqual([]);
    await rm(join(root, "d1"), { recursive: true });
    await rename(join(root, "elsewhere"), join(root, "d1"));
    await (await start(all)).stop();
  });

  it("goes on without a device that is out of the settings: it is given up, can be forgotten, and is then made anew", async () => {
    const all = ["d0", "d1", "d2"].map((id) => device(id));
    await (await start(all)).stop();
    await rm(join(root, "d1"), { recursive: true });
    let running = await start(all.filter(({ id }) => id !== "d1"));
    const stateOf = async (id: string) =>
      (await call(running.services[0]?.url ?? "", "GET", "devices")).find((d: { device_id: string }) => d.device_id === id)
        ?.state;
    await vi.waitFor(async () => expect(["Failed", "Removed"]).toContain(await stateOf("d1")), { timeout: 60_000, interval: 50 });
    await running.stop();
    // Given up, it may be named again before it is forgotten, and stays away.
    running = await start(all);
    await vi.waitFor(async () => expect(await stateOf("d1")).toBe("Removed"), { timeout: 60_000, interval: 50 });
    await call(running.services[0]?.url ?? "", "DELETE", "ops/devices/d1");
    await running.stop();
    running = await start(all);
    expect(await stateOf("d1")).toBe("Healthy");
    await running.stop();
  });

  it("goes on with devices that may take more than their disk has, and tells of them: flags, a warning and an event, and no other health", async () => {
    const vast = [device("d0"), { ...device("d1"), capacity_bytes: Number.MAX_SAFE_INTEGER }];
    const running = await start(vast);
    const url = running.services[0]?.url ?? "";
    const flags = async () => (await call(url, "GET", "devices")).map((d: { flags: readonly string[] }) => d.flags.join());
    await vi.waitFor(async () => expect(await flags()).toEqual(["capacity_beyond_disk", "capacity_beyond_disk"]), {
      timeout: 60_000,
      interval: 50,
    });
    const { health, active_alerts } = await call(url, "GET", "cluster");
    const alert = { severity: "warning", message: "capacity beyond disk" };
    expect(health).toBe("healthy");
    // How full the disk of the machine that runs this is, is its own affair.
    expect(active_alerts.filter(({ subject }: { subject: string }) => subject !== "system disk")).toMatchObject([
      { ...alert, subject: "d0" },
      { ...alert, subject: "d1" },
    ]);
    const messages = (await call(url, "GET", "events?category=device")).map((event: { message: string }) => event.message);
    expect(messages.filter((m: string) => /^capacity beyond the disk: the 2 devices on it/.test(m))).toHaveLength(2);
    await running.stop();
  });

  it("names the setting of a directory that cannot be used, why, and what to do", async () => {
    await (await start([device("d0"), device("d1")])).stop();
    await writeFile(join(root, "file"), "");
    for (const [devices, found] of [
      [[device("d0"), device("d1", join(root, "file"))], /^storage\.devices\.1\.directory: .*\(ENOTDIR\): mount/],
      [
        [device("d0"), device("d9", join(root, "d1"))],
        /^storage\.devices\.1\.directory: .*belongs to device d1, not d9: name the/,
      ],
    ] as const)
      await expect(start(devices)).rejects.toMatchObject({ message: expect.stringMatching(found) });
  });
});
