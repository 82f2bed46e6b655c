import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EtcdClient, type EtcdOptions, openEtcdLog } from "@seneschal/adapters/etcd";
import { emptyHead } from "@seneschal/kernel/log";
import type { LogEntry, LogHead } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdCluster, etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { compareResult, compareTarget, type RangeReply, type TxnReply } from "../../src/etcd/protocol.ts";

const entryAfter = (head: LogHead, batchId: string): LogEntry => ({
  v: 1,
  seq: head.seq + 1,
  batchId,
  prevHash: "",
  at: 0,
  commands: [],
});

if (!etcdInstalled()) test.skip("etcd is not installed (apt-get install etcd-server)", () => {});
else {
  describe("etcd client", () => {
    let cluster: EtcdCluster;
    let client: EtcdClient;
    beforeAll(async () => {
      cluster = await startEtcdCluster({ members: 1 });
      client = new EtcdClient({ endpoints: cluster.endpoints });
    });
    afterAll(async () => {
      client.close();
      await cluster.destroy();
    });
    const succeeds = async (compare: object): Promise<boolean> => {
      const { succeeded } = await client.call<TxnReply>("KV.Txn", { compare: [compare] });
      return succeeded;
    };

    test("every compare target and result reaches the server as what it is", async () => {
      const key = Buffer.from("/compare");
      await client.call("KV.Put", { key, value: Buffer.from("one") });
      await client.call("KV.Put", { key, value: Buffer.from("two") });
      const { kvs } = await client.call<RangeReply>("KV.Range", { key });
      const kv = kvs[0] as RangeReply["kvs"][0];
      const { equal, greater, less, notEqual } = compareResult;
      const values = {
        version: [kv.version, "2"],
        create: [kv.create_revision, kv.create_revision],
        mod: [kv.mod_revision, kv.mod_revision],
        lease: [kv.lease, "0"],
      } as const;
      const field = { version: "version", create: "create_revision", mod: "mod_revision", lease: "lease" } as const;
      for (const target of ["version", "create", "mod", "lease"] as const) {
        const [found, expected] = values[target];
        expect(found).toBe(expected);
        const compare = (result: number, value: number) => ({
          key,
          target: compareTarget[target],
          result,
          [field[target]]: value,
        });
        const now = Number(found);
        expect([target, await succeeds(compare(equal, now)), await succeeds(compare(equal, now + 99))]).toEqual([
          target,
          true,
          false,
        ]);
        expect([await succeeds(compare(greater, now - 1)), await succeeds(compare(greater, now))]).toEqual([true, false]);
        expect([await succeeds(compare(less, now + 1)), await succeeds(compare(less, now))]).toEqual([true, false]);
        expect([await succeeds(compare(notEqual, now + 1)), await succeeds(compare(notEqual, now))]).toEqual([true, false]);
      }
      const value = (text: string) => ({ key, target: compareTarget.value, result: equal, value: Buffer.from(text) });
      expect([await succeeds(value("two")), await succeeds(value("one"))]).toEqual([true, false]);
      const absent = { key: Buffer.from("/absent"), result: equal };
      expect(await succeeds({ ...absent, target: compareTarget.mod, mod_revision: 99 })).toBe(false);
      expect(await succeeds({ ...absent, target: compareTarget.create, create_revision: 0 })).toBe(true);
    });

    test("a reply larger than the usual 4 MiB arrives; a request beyond the server's limit is refused and not repeated", async () => {
      const value = Buffer.alloc(1_400_000, "x");
      for (let n = 0; n < 6; n += 1) await client.call("KV.Put", { key: Buffer.from(`/large/${n}`), value });
      const { kvs } = await client.call<RangeReply>(
        "KV.Range",
        { key: Buffer.from("/large/"), range_end: Buffer.from("/large0") },
        5000,
      );
      expect(kvs.length).toBe(6);
      await expect(client.call("KV.Put", { key: Buffer.from("/large/x"), value: Buffer.alloc(1_700_000) })).rejects.toMatchObject(
        { code: 3 },
      );
    });
  });

  describe("etcd with users", () => {
    let cluster: EtcdCluster;
    const endpoint = (): string => cluster.endpoints[0] as string;
    /** etcd's JSON gateway: only the administration that the client has no need for. */
    const admin = async (path: string, body: object, token?: string): Promise<Record<string, unknown>> => {
      const response = await fetch(`${endpoint()}/v3/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: token === undefined ? {} : { Authorization: token },
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    beforeAll(async () => {
      cluster = await startEtcdCluster({ members: 1 });
      for (const [name, password] of [
        ["root", "root-password"],
        ["scheduler", "right"],
      ])
        await admin("auth/user/add", { name, password });
      await admin("auth/role/add", { name: "root" });
      await admin("auth/user/grant", { user: "root", role: "root" });
      await admin("auth/role/add", { name: "quota" });
      await admin("auth/role/grant", {
        name: "quota",
        perm: { permType: "READWRITE", key: base64("/quota/"), range_end: base64("/quota0") },
      });
      await admin("auth/user/grant", { user: "scheduler", role: "quota" });
      await admin("auth/enable", {});
    });
    afterAll(() => cluster.destroy());

    const open = (prefix: string, password = "right", options: Partial<EtcdOptions> = {}) =>
      openEtcdLog({ endpoints: cluster.endpoints, prefix, auth: { username: "scheduler", password }, totalMs: 3000, ...options });

    test("a user with the role on the prefix works; tokens that died with a restart are replaced without the caller noticing", async () => {
      const log = await open("/quota/a");
      const first = await log.append(emptyHead, entryAfter(emptyHead, "one"));
      expect(first.ok).toBe(true);
      await log.saveSnapshot(1, new Uint8Array(10));
      await cluster.restart(0);
      expect((await log.append(first.head, entryAfter(first.head, "two"))).ok).toBe(true);
      await log.truncate(1);
      expect((await log.read(1, { limit: 9 })).entries.length).toBe(1);
      await log.close();
    });

    test("a wrong password, no user, and a prefix without rights are refused; the password is in no message", async () => {
      await expect(open("/other")).rejects.toMatchObject({ code: "log_misconfigured" });
      await expect(openEtcdLog({ endpoints: cluster.endpoints, prefix: "/quota/b", totalMs: 500 })).rejects.toMatchObject({
        code: "log_misconfigured",
      });
      const error = await open("/quota/b", "wrong-secret", { totalMs: 500 }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: expect.stringMatching(/^(log_misconfigured|no_quorum)$/) });
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
        expect(cause.message + JSON.stringify(cause)).not.toContain("wrong-secret");
    });
  });

  describe("etcd over TLS", () => {
    const directory = mkdtempSync(join(tmpdir(), "etcd-tls-"));
    const file = (name: string): string => join(directory, name);
    const openssl = (...args: string[]): void => void execFileSync("openssl", args, { cwd: directory, stdio: "ignore" });
    const authority = (name: string): void =>
      openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        `/CN=${name}`,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.pem`,
      );
    let host = "";
    const issue = (name: string, ca: string): void => {
      writeFileSync(file(`${name}.ext`), `subjectAltName=IP:${host}\nextendedKeyUsage=serverAuth,clientAuth\n`);
      openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        `/CN=${name}`,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
      );
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        `${ca}.pem`,
        "-CAkey",
        `${ca}.key`,
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        `${name}.ext`,
        "-out",
        `${name}.pem`,
      );
    };
    const tls = (name: string, ca = "ca") => ({
      caFile: file(`${ca}.pem`),
      certFile: file(`${name}.pem`),
      keyFile: file(`${name}.key`),
    });
    let cluster: EtcdCluster;
    beforeAll(async () => {
      const address = await ownAddress();
      host = address.host;
      authority("ca");
      authority("stranger");
      issue("server", "ca");
      issue("client", "ca");
      issue("intruder", "stranger");
      cluster = await startEtcdCluster(
        { members: 1, tls: { ...tls("server"), addresses: [address], clientCertAuth: true } },
        tls("client"),
      );
    });
    afterAll(async () => {
      await cluster.destroy();
      rmSync(directory, { recursive: true });
    });

    test("a client certificate of the CA is let in; a stranger's, none, and a server of another CA are not", async () => {
      const open = (options: Partial<EtcdOptions>) =>
        openEtcdLog({ endpoints: cluster.endpoints, prefix: "/tls", totalMs: 500, tryMs: 400, ...options });
      const log = await open({ tls: tls("client") });
      expect((await log.append(emptyHead, entryAfter(emptyHead, "one"))).ok).toBe(true);
      await log.close();
      for (const bad of [tls("intruder"), { caFile: file("ca.pem") }, tls("client", "stranger")])
        await expect(open({ tls: bad })).rejects.toMatchObject({ code: "no_quorum" });
    });

    test("a renewed certificate is taken up without a restart", async () => {
      for (const kind of ["key", "pem"]) copyFileSync(file(`intruder.${kind}`), file(`renewed.${kind}`));
      const client = new EtcdClient({ endpoints: cluster.endpoints, tls: tls("renewed"), tryMs: 1000 });
      const range = { key: Buffer.from("/tls/head") };
      await expect(client.call("KV.Range", range)).rejects.toThrow();
      for (const kind of ["key", "pem"]) {
        copyFileSync(file(`client.${kind}`), file(`renewed.${kind}`));
        utimesSync(file(`renewed.${kind}`), new Date(), new Date(Date.now() + 5000));
      }
      expect((await client.persist<RangeReply>("KV.Range", range)).kvs.length).toBe(1);
      client.close();
    });
  });
}
