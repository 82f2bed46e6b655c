import { setTimeout as wait } from "node:timers/promises";
import { EtcdClient, type EtcdLogOptions, openEtcdLog, reclaimEtcdSpace } from "@seneschal/adapters/etcd";
import { emptyHead } from "@seneschal/kernel/log";
import type { LogEntry, LogHead, ReplicatedLog } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";
import { rounds } from "../suite-runner.ts";
import { checkAgreement, checkHistory, insistentLoad, openReplica, type Replica, until } from "./insistent-load.ts";

const entryAfter = (head: LogHead, batchId: string, text = ""): LogEntry => ({
  v: 1,
  seq: head.seq + 1,
  batchId,
  prevHash: "",
  at: 0,
  commands: [{ id: batchId, text }],
});

if (!etcdInstalled()) test.skip("etcd is not installed (apt-get install etcd-server)", () => {});
else
  describe("etcd log under faults", () => {
    let cluster: EtcdCluster;
    beforeAll(async () => {
      cluster = await startEtcdCluster();
    });
    afterAll(() => cluster.destroy());

    const open = (prefix: string, options: Partial<EtcdLogOptions> = {}): Promise<ReplicatedLog> =>
      openEtcdLog({ endpoints: cluster.endpoints, prefix, tryMs: 400, ...options });
    const close = async (replicas: readonly Replica[], logs: readonly ReplicatedLog[]): Promise<void> => {
      await Promise.all(replicas.map((replica) => replica.close()));
      await Promise.all(logs.map((log) => log.close()));
    };

    for (const processes of [1, 4])
      test(`kill -9 of the leader under 64 callers on ${processes} proposer(s): no answer is lost, doubled or false`, async () => {
        const prefix = `/kill/${processes}`;
        const logs = await Promise.all(Array.from({ length: processes }, () => open(prefix)));
        const replicas = await Promise.all(logs.map(openReplica));
        const report = await insistentLoad(replicas, 64, async (answered) => {
          for (let round = 0; round < rounds(3); round += 1) {
            const before = answered();
            await until(() => answered() > before + 2000);
            const leader = await cluster.leader();
            await cluster.kill(leader);
            const after = answered();
            await until(() => answered() > after + 500);
            await cluster.restart(leader);
          }
        });
        await checkHistory(logs[0] as ReplicatedLog, report);
        await checkAgreement(replicas);
        console.log(
          `${processes} proposer(s): ${report.answers.size} answered, ${report.unknown} asked again, longest gap ${report.longestGapMs} ms`,
        );
        await close(replicas, logs);
      });

    test("a leader that stands still is left behind; when it goes on it changes nothing", async () => {
      const logs = [await open("/pause"), await open("/pause")];
      const replicas = await Promise.all(logs.map(openReplica));
      const report = await insistentLoad(replicas, 16, async (answered) => {
        await until(() => answered() > 500);
        const leader = await cluster.leader();
        cluster.pause(leader);
        const before = answered();
        await until(() => answered() > before + 500);
        cluster.resume(leader);
        const after = answered();
        await until(() => answered() > after + 500);
      });
      await checkHistory(logs[0] as ReplicatedLog, report);
      await checkAgreement(replicas);
      await close(replicas, logs);
    });

    test("without a majority nothing is decided and no stale state is read; with it work goes on by itself", async () => {
      const log = await open("/quorum", { totalMs: 1500 });
      const replica = await openReplica(log);
      await replica.propose([{ id: "1", kind: "take", tenant: "t", amount: 3 }]);
      const leader = await cluster.leader();
      const others = [0, 1, 2].filter((member) => member !== leader);
      await Promise.all(others.map((member) => cluster.kill(member)));
      await expect(replica.read()).rejects.toMatchObject({ code: "no_quorum" });
      await expect(replica.propose([{ id: "2", kind: "take", tenant: "t", amount: 3 }])).rejects.toMatchObject({
        code: expect.stringMatching(/^(no_quorum|outcome_unknown)$/),
      });
      expect((await log.status()).available).toBe(false);
      await expect(open("/quorum", { totalMs: 500 })).rejects.toMatchObject({ code: "no_quorum" });
      for (const member of others) await cluster.restart(member);
      expect((await replica.propose([{ id: "2", kind: "take", tenant: "t", amount: 3 }]))[0]?.result).toBe("ok");
      expect((await replica.read()).inner.used).toEqual({ t: 6 });
      await close([replica], [log]);
    });

    test("a network that cuts, stalls and swallows replies: every append is settled by sending it again", async () => {
      const members = cluster.endpoints.map((endpoint) => new URL(endpoint));
      const proxies = await Promise.all(members.map(({ port, hostname }) => startTcpProxy(Number(port), hostname)));
      const endpoints = proxies.map((proxy) => `http://127.0.0.1:${proxy.port}`);
      const logs = [await open("/network", { endpoints }), await open("/network", { endpoints })];
      const replicas = await Promise.all(logs.map(openReplica));
      const report = await insistentLoad(replicas, 16, async (answered) => {
        for (let round = 0; round < rounds(8); round += 1) {
          const before = answered();
          await until(() => answered() > before + 200);
          for (const proxy of proxies) {
            if (round % 4 === 0) proxy.cut();
            if (round % 4 === 1) proxy.swallowReplies();
            if (round % 4 === 2) proxy.stall();
          }
          if (round % 4 === 3) proxies[await cluster.leader()]?.stall();
          await wait(round % 4 === 3 ? 600 : 50);
          for (const proxy of proxies) proxy.heal();
        }
        const after = answered();
        await until(() => answered() > after + 200);
      });
      await checkHistory(logs[0] as ReplicatedLog, report);
      await checkAgreement(replicas);
      await close(replicas, logs);
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });

    test("subscribe misses nothing over cut connections and compaction", async () => {
      const members = cluster.endpoints.map((endpoint) => new URL(endpoint));
      const proxies = await Promise.all(members.map(({ port, hostname }) => startTcpProxy(Number(port), hostname)));
      const writer = await open("/watch");
      const reader = await open("/watch", { endpoints: proxies.map((proxy) => `http://127.0.0.1:${proxy.port}`) });
      let seen = 0;
      let wake: () => void = () => {};
      let reading: Promise<void> = Promise.resolve();
      reader.subscribe(0, () => {
        reading = reading.then(async () => {
          const { entries } = await reader.read(seen, { limit: 100 }).catch(() => ({ entries: [] }));
          seen = entries.at(-1)?.seq ?? seen;
          wake();
        });
      });
      const client = new EtcdClient({ endpoints: cluster.endpoints });
      let head = emptyHead;
      for (let n = 1; n <= 12; n += 1) {
        if (n % 4 === 0) for (const proxy of proxies) proxy.cut();
        head = (await writer.append(head, entryAfter(head, `e${n}`))).head;
        if (n % 6 === 0) {
          const { header } = await client.persist<{ header: { revision: string } }>("KV.Range", {
            key: Buffer.from("/watch/head"),
          });
          await client.persist("KV.Compact", { revision: header.revision });
        }
        await new Promise<void>((resolve) => {
          wake = () => seen === n && resolve();
          wake();
        });
      }
      expect(seen).toBe(12);
      client.close();
      await reader.close();
      await writer.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });

    test("endpoints without TLS are for loopback only, and a prefix must be one", async () => {
      for (const prefix of ["", "/", "quota", "/quota/"])
        await expect(open(prefix)).rejects.toMatchObject({ code: "log_misconfigured" });
      await expect(open("/x", { endpoints: ["http://10.0.0.1:2379"] })).rejects.toMatchObject({ code: "log_misconfigured" });
      await expect(open("/x", { endpoints: ["https://10.0.0.1:2379"] })).rejects.toMatchObject({ code: "log_misconfigured" });
      await expect(open("/x", { endpoints: [] })).rejects.toMatchObject({ code: "log_misconfigured" });
    });
  });

if (etcdInstalled())
  test("members come and go under load, the leader too: no answer is lost, doubled or false, and a new client finds the log by the new members", async () => {
    const cluster = await startEtcdCluster();
    try {
      const prefix = "/members";
      const logs = await Promise.all([0, 1].map(() => openEtcdLog({ endpoints: cluster.endpoints, prefix, tryMs: 400 })));
      const replicas = await Promise.all(logs.map(openReplica));
      const report = await insistentLoad(replicas, 16, async (answered) => {
        for (let change = 0; change < 2; change += 1) {
          const before = answered();
          await until(() => answered() > before + 500);
          await cluster.add();
          const grown = answered();
          await until(() => answered() > grown + 500);
          await cluster.remove(await cluster.leader());
          const shrunk = answered();
          await until(() => answered() > shrunk + 500);
        }
      });
      await checkHistory(logs[0] as ReplicatedLog, report);
      await checkAgreement(replicas);
      const late = await openEtcdLog({ endpoints: cluster.endpoints.slice(3), prefix });
      expect((await late.status()).head).toEqual((await logs[0]?.status())?.head);
      expect((await late.status()).members).toHaveLength(3);
      await Promise.all(replicas.map((replica) => replica.close()));
      await Promise.all([...logs, late].map((log) => log.close()));
    } finally {
      await cluster.destroy();
    }
  });

describe("a partitioned etcd", () => {
  test("the minority refuses, also to read; the majority goes on; joined again they agree", async () => {
    const cluster = await startEtcdCluster({ peerProxies: true });
    const logs = await Promise.all(
      [0, 1].map(() => openEtcdLog({ endpoints: cluster.endpoints, prefix: "/partition", tryMs: 400 })),
    );
    const replicas = await Promise.all(logs.map(openReplica));
    const report = await insistentLoad(replicas, 16, async (answered) => {
      for (let round = 0; round < rounds(2); round += 1) {
        const before = answered();
        await until(() => answered() > before + 300);
        const leader = await cluster.leader();
        await cluster.isolate(leader);
        const cutOff = openEtcdLog({ endpoints: [cluster.endpoints[leader] as string], prefix: "/partition", totalMs: 1500 });
        const refused = expect(cutOff, "the old leader alone").rejects.toMatchObject({ code: "no_quorum" });
        const after = answered();
        await until(() => answered() > after + 300);
        await refused;
        cluster.rejoin();
      }
      const joined = answered();
      await until(() => answered() > joined + 300);
    });
    await checkHistory(logs[0] as ReplicatedLog, report);
    await checkAgreement(replicas);
    await Promise.all(replicas.map((replica) => replica.close()));
    await Promise.all(logs.map((log) => log.close()));
    await cluster.destroy();
  });
});

if (etcdInstalled())
  describe("a full etcd", () => {
    test("NOSPACE is told as log_full with no false answer; truncation, defragmentation and disarming bring it back", async () => {
      const cluster = await startEtcdCluster({ quotaBytes: 16 * 1024 * 1024 });
      const log = await openEtcdLog({ endpoints: cluster.endpoints, prefix: "/full" });
      const acknowledged: string[] = [];
      const refused = new Set<unknown>();
      let head = emptyHead;
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; refused.size === 0; n += 1) {
          const expected = head;
          const entry = entryAfter(expected, `w${writer}-${n}`, "x".repeat(200_000));
          try {
            const result = await log.append(expected, entry);
            if (result.ok) acknowledged.push(entry.batchId);
            if (result.head.seq > head.seq) head = result.head;
          } catch (error) {
            refused.add((error as { code?: unknown }).code);
          }
        }
      });
      await Promise.all(writers);
      expect([...refused].every((code) => code === "log_full" || code === "outcome_unknown")).toBe(true);
      const history: LogEntry[] = [];
      for (;;) {
        const page = await log.read(history.length, { limit: 16 });
        history.push(...page.entries);
        if (history.length >= page.head.seq) break;
      }
      const batches = history.map((entry) => entry.batchId);
      expect(acknowledged.filter((batch) => !batches.includes(batch))).toEqual([]);
      head = { seq: history.length, batchId: batches.at(-1) as string };
      await expect(log.append(head, entryAfter(head, "refused"))).rejects.toMatchObject({ code: "log_full" });
      await expect(log.saveSnapshot(head.seq, new Uint8Array(10))).rejects.toMatchObject({ code: "log_full" });

      // Deletions pass while the alarm stands; a snapshot does not, so that an operator makes room by hand this once.
      const client = new EtcdClient({ endpoints: cluster.endpoints });
      const range = { key: Buffer.from("/full/log/"), range_end: Buffer.from(`/full/log/${String(head.seq).padStart(16, "0")}`) };
      const { header } = await client.persist<{ header: { revision: string } }>("KV.DeleteRange", range);
      await client.persist("KV.Compact", { revision: header.revision });
      await reclaimEtcdSpace(client);
      client.close();
      const result = await log.append(head, entryAfter(head, "again"));
      expect(result.ok).toBe(true);
      const { sizeBytes = 0, allocatedBytes = 0, entries } = await log.status();
      expect([sizeBytes < 4 * 1024 * 1024, allocatedBytes >= sizeBytes, entries]).toEqual([true, true, 2]);
      await log.close();
      await cluster.destroy();
    });
  });
