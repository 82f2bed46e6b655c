import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { openRig } from "../gateway/rig.ts";

const hour = 3_600_000;
const namespace = "rotation";

/** A gateway in a process of its own. */
class Runner {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(url: string) {
    const program = new URL("rotation-process.ts", import.meta.url).pathname;
    const options = [...sourceOptions, program, url, namespace];
    this.#child = spawn(process.execPath, options, { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    return (await this.#lines.next()).value;
  }

  jump(ms: number): void {
    this.#child.stdin?.write(`jump ${ms}\n`);
  }

  async run(): Promise<number> {
    this.#child.stdin?.write("run\n");
    return Number(await this.line());
  }

  async kill(): Promise<void> {
    if (this.#child.signalCode !== null) return;
    const exit = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exit;
  }
}

if (postgresBinaries() === undefined) it.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("rotation by two processes over one PostgreSQL, their clocks jumping", () => {
    let server: PostgresServer;
    let store: DocumentStore;
    const workspaces: string[] = [];
    let first: Runner;
    let second: Runner;
    beforeAll(async () => {
      server = await startPostgres();
      const collections = { ...gatewaySchema.collections, ...vaultCollections };
      store = await openPostgresStore({ url: server.url, namespace, ...gatewaySchema, collections });
      const parts = { store, crypto: nodeCrypto, random: systemRandom, clock: settableClock(Date.now()) };
      const vault = await openEmbeddedVault({ ...parts, unseal: { kind: "key", key: new Uint8Array(32).fill(9) } });
      const rig = await openRig({ store, vault, organizations: ["acme"] });
      const acme = rig.admin("acme");
      for (const name of ["a", "b", "c", "d", "e"]) {
        const { body } = await acme("POST", "/api/v1/workspaces", { name });
        await acme("PUT", `/api/v1/workspaces/${body.id}/rotation-policy`, { max_age: "1h" });
        workspaces.push(body.id);
      }
      await rig.close();
      [first, second] = [new Runner(server.url), new Runner(server.url)];
      expect(await Promise.all([first.line(), second.line()])).toEqual(["ready", "ready"]);
    });
    afterAll(async () => {
      await Promise.all([first?.kill(), second?.kill()]);
      await store?.close();
      await server?.destroy();
    });

    /** Every key has this version, every version its one event. */
    const expectVersion = async (version: number): Promise<void> => {
      for (const id of workspaces) {
        expect((await store.get("workspaces", id))?.doc["dek_version"]).toBe(version);
        const { items } = await store.list("audit", "by_workspace", ["acme", id], { limit: 100 });
        const rotations = items.filter(({ doc }) => (doc["event"] as { event_type: string }).event_type === "key.rotate");
        expect(rotations).toHaveLength(version - 1);
      }
    };
    const both = async (): Promise<number> => {
      const [one, other] = await Promise.all([first.run(), second.run()]);
      return one + other;
    };

    it("each due key is rotated once, by one of them; what is not due is left alone, also by a clock that went back", async () => {
      expect(await both()).toBe(0);
      for (const runner of [first, second]) runner.jump(hour);
      expect(await both()).toBe(5);
      await expectVersion(2);
      expect(await both()).toBe(0);
      second.jump(-10 * hour);
      expect(await both()).toBe(0);
      second.jump(10 * hour);
      await expectVersion(2);
    });

    it("a hundred hours of downtime are made up for by one rotation", async () => {
      for (const runner of [first, second]) runner.jump(100 * hour);
      expect(await both()).toBe(5);
      await expectVersion(3);
    });

    it("a holder of the lease that is killed, with a clock far ahead, keeps nobody from rotating", async () => {
      // Whoever lost the last race has to see how the lease stands before its clock jumps: one just seen may be held.
      expect(await both()).toBe(0);
      first.jump(500 * hour);
      expect(await first.run()).toBe(5);
      await expectVersion(4);
      expect(await second.run()).toBe(0);
      await first.kill();
      second.jump(501 * hour);
      expect(await second.run()).toBe(5);
      await expectVersion(5);
      // By this clock the other's lease lies two weeks ahead: no lease lasts so long.
      first = new Runner(server.url);
      expect(await first.line()).toBe("ready");
      await second.kill();
      const lease = await store.get("leases", "rotation");
      expect(await first.run()).toBe(0);
      expect((await store.get("leases", "rotation"))?.version).toBeGreaterThan(lease?.version ?? 0);
    });
  });
