import { createHash, createPublicKey, verify } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mtlsFetch } from "@seneschal/adapters/http";
import { type ClientOptions, client } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { PASSPHRASE_RULE } from "@seneschal/crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { type ScriptedHost, scriptedHost } from "./scripted-host.ts";

describe("a root key by the command line", () => {
  let dev: DevProcess;
  beforeAll(async () => {
    dev = await openDevProcess();
  });
  afterAll(() => dev.close());

  const callAs = async (
    role: string | undefined,
    args: readonly string[],
    secrets: readonly string[] = [],
  ): Promise<ScriptedHost & { code: number }> => {
    const host = scriptedHost({ cwd: dev.dir, secrets });
    const code = await run([...args, "--as", `acme/${role}`, "--credentials", dev.credentials, "--json"], host);
    return Object.assign(host, { code });
  };
  const call = (args: readonly string[], secrets?: readonly string[]) => callAs("super_admin", args, secrets);
  /** Who holds which index. */
  const roles = ["security_admin", "operations_admin", "auditor"];

  /** Every byte of a body that the commands send, in one text. */
  const sent: string[] = [];
  const listen = (message: unknown): void => {
    sent.push(Buffer.from((message as { readonly chunk: Uint8Array | string }).chunk).toString("latin1"));
  };
  beforeAll(() => subscribe("undici:request:bodyChunkSent", listen));
  afterAll(() => unsubscribe("undici:request:bodyChunkSent", listen));

  it("custodians choose passwords, open their shares and sign together; neither password nor share is sent", async () => {
    const admins = JSON.parse(await readFile(dev.credentials, "utf8")).organizations.acme.admins;
    const identities = roles.map((role) => admins[role].id as string);
    const named = ["--custodian", ...identities.map((id, i) => `${i + 1}=${id}`)];
    const started = await call(["ceremony", "generate", "--shares", "3", "--threshold", "2", ...named]);
    expect(started.code, started.lines.join()).toBe(0);
    const ceremony = String(started.json()["id"]);
    // A seat that is kept for somebody is nobody else's.
    const other = await callAs(roles[1], ["ceremony", "seed", ceremony, "--index", "1"], ["my password 2"]);
    expect(other.code).not.toBe(0);
    for (const index of [1, 2, 3]) {
      const seeded = await callAs(
        roles[index - 1],
        ["ceremony", "seed", ceremony, "--index", String(index), "--name", `c${index}`],
        [`my password ${index}`],
      );
      expect(seeded.code, seeded.lines.join()).toBe(0);
    }
    const seated = await call(["ceremony", "finish", ceremony]);
    expect(seated.json()["seats"]).toMatchObject(identities.map((identity_id, i) => ({ index: i + 1, identity_id })));
    expect((await call(["ceremony", "finish", ceremony, "--seats", "00".repeat(32)])).code).toBe(2);
    expect((await call(["gateway", "get-generation-ceremony", ceremony])).json()).toMatchObject({ crk: null });
    const finished = await call(["ceremony", "finish", ceremony, "--seats", String(seated.json()["hash"])]);
    expect(finished.code, finished.lines.join()).toBe(0);
    const crk = finished.json()["crk"] as { id: string; public_key: string };

    const wrong = await call(["ceremony", "open-share", crk.id, "1", "--out", "wrong.json"], ["not the password"]);
    expect(wrong.code).toBe(2);
    for (const index of [1, 3]) {
      const opened = await callAs(
        roles[index - 1],
        ["ceremony", "open-share", crk.id, String(index), "--out", `share-${index}.json`],
        [`my password ${index}`],
      );
      expect(opened.code, opened.lines.join()).toBe(0);
      expect((await stat(join(dev.dir, `share-${index}.json`))).mode & 0o077).toBe(0);
    }

    const message = Buffer.from("transfer the castle").toString("base64");
    const session = await call(["ceremony", "session", "--message", message]);
    const id = String(session.json()["id"]);
    const take = (index: number, ...more: string[]) =>
      callAs(roles[index - 1], ["ceremony", "join", id, "--share", `share-${index}.json`, ...more]);
    const shown = await take(1);
    expect([shown.code, shown.json()]).toMatchObject([0, { signs: null }]);
    const hash = String(shown.json()["hash"]);
    expect((await take(1, "--sign", "00".repeat(32))).code).toBe(2);
    expect(sent.join("\n")).not.toContain('"hiding"');
    const joined = await Promise.all([1, 3].map((index) => take(index, "--sign", hash)));
    expect(joined.map(({ code }) => code)).toEqual([0, 0]);
    const aggregated = await call(["ceremony", "aggregate", id]);
    const signature = String(aggregated.json()["signature"]);
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(crk.public_key, "base64")]),
      format: "der",
      type: "spki",
    });
    expect(verify(null, Buffer.from(message, "base64"), key, Buffer.from(signature, "base64"))).toBe(true);

    const all = sent.join("\n");
    expect(all).toContain('"derived_key"');
    expect(all).toContain('"hiding"');
    for (const index of [1, 2, 3]) expect(all).not.toContain(`my password ${index}`);
    for (const index of [1, 3]) {
      const { data } = JSON.parse(await readFile(join(dev.dir, `share-${index}.json`), "utf8"));
      expect(all).not.toContain(data);
      // The share's scalar stands somewhere in its envelope: no stretch of it was sent in another dress.
      for (let at = 0; at + 24 <= data.length; at += 8) expect(all).not.toContain(data.slice(at, at + 24));
    }

    const lonely = await call(["ceremony", "session", "--message", message]);
    const alone = await callAs(roles[0], [
      "ceremony",
      "join",
      String(lonely.json()["id"]),
      "--share",
      "share-1.json",
      "--wait",
      "0",
      "--sign",
      hash,
    ]);
    expect([alone.code, alone.json()]).toMatchObject([2, { error: { code: "too_few_custodians" } }]);
    // Its nonces went with the process: what it has committed to is signed by nobody any more.
    const again = await callAs(roles[0], [
      "ceremony",
      "join",
      String(lonely.json()["id"]),
      "--share",
      "share-1.json",
      "--sign",
      hash,
    ]);
    expect(again.json()).toMatchObject({
      error: { code: "CONFLICT", message: expect.stringContaining("custodian 1 has committed already") },
    });

    await writeFile(join(dev.dir, "crk.json"), JSON.stringify(session.json()["crk"]));
    const offline = scriptedHost({ cwd: dev.dir });
    const code = await run(
      ["sign", "--json", "--crk", "crk.json", "--share", "share-1.json", "share-3.json", "--message", message],
      offline,
    );
    expect(code, offline.lines.join()).toBe(0);
    expect(verify(null, Buffer.from(message, "base64"), key, Buffer.from(String(offline.json()["signature"]), "base64"))).toBe(
      true,
    );
    expect(await readFile(join(dev.dir, "share-1.json"), "utf8")).toContain('"index":1');
  });

  it("a custodian reads which operation is to be signed, on what, where and until when, before anything is signed", async () => {
    const body = { type: "full" };
    await writeFile(join(dev.dir, "body.json"), JSON.stringify(body));
    await writeFile(join(dev.dir, "request.json"), JSON.stringify({ operation: "backup.create", body }));
    const prepared = await call(["gateway", "create-signing-request", "--body", "@request.json"]);
    expect(prepared.code, [...prepared.lines, ...prepared.errors].join()).toBe(0);
    const message = String(prepared.json()["message"]);
    const session = await call(["ceremony", "session", "--message", message, "--body", "body.json"]);
    const id = String(session.json()["id"]);
    const shown = await callAs(roles[0], ["ceremony", "join", id, "--share", "share-1.json"]);
    expect([shown.code, shown.json()]).toMatchObject([
      0,
      {
        hash: createHash("sha256").update(message, "base64").digest("hex"),
        signs: { purpose: "operation", payload: { op: "backup.create", resource_type: "backup" }, body },
      },
    ]);
    const { status, commitments } = (await call(["gateway", "get-signing-session", id])).json();
    expect([status, commitments]).toEqual(["committing", []]);
  });

  it("a new password is by the rule of passphrases, or the custodian is told it and nothing is sent", async () => {
    const before = sent.length;
    for (const weak of ["", "password", "passwor", "aaaaaaaaaaaaaaaaaaaa", "abcdabcdabcdabcd"]) {
      const { code, json } = await call(["ceremony", "seed", "none", "--index", "1"], [weak]);
      expect([code, json()]).toMatchObject([2, { error: { code: "crypto_invalid", message: PASSPHRASE_RULE } }]);
    }
    expect(sent.length).toBe(before);
  });

  it("enrolling needs both files to be new before the token is spent; a refused token leaves none", async () => {
    const { organizations } = JSON.parse(await readFile(dev.credentials, "utf8"));
    const admin = organizations.acme.admins.auditor.id;
    await writeFile(join(dev.dir, "me-key.pem"), "mine");
    const there = await call(["enroll", "--admin", admin, "--out", "me"], ["token"]);
    expect([there.code, there.json()]).toMatchObject([2, { error: { code: "file_exists" } }]);
    await expect(stat(join(dev.dir, "me.pem"))).rejects.toThrow("ENOENT");
    const refused = await call(["enroll", "--admin", admin, "--out", "you"], ["token"]);
    expect([refused.code, refused.json()]).toMatchObject([4, { error: { code: "UNAUTHORIZED" } }]);
    await expect(stat(join(dev.dir, "you-key.pem"))).rejects.toThrow("ENOENT");
  });

  it("an enrolled admin's key is made here, and speaks for the admin", async () => {
    const { base_urls, ca, organizations } = JSON.parse(await readFile(dev.credentials, "utf8"));
    const { cert, key } = organizations.acme.admins.super_admin;
    const http = mtlsFetch({
      ca: await readFile(ca, "utf8"),
      cert: await readFile(cert, "utf8"),
      key: await readFile(key, "utf8"),
    });
    const gateway = client(gatewayContract, { baseUrl: base_urls.gateway, fetch: http.fetch as ClientOptions["fetch"] });
    const admin = await gateway.createAdmin({ body: { email: "new@acme.example", name: "New", role: "auditor" } });
    await http.close();
    const to = ["--url", base_urls.gateway, "--ca", ca, "--json"];
    const host = scriptedHost({ cwd: dev.dir, secrets: [admin.enrollment_token ?? ""] });
    expect(await run(["enroll", "--admin", admin.id, "--out", "new", ...to], host), host.lines.join()).toBe(0);
    expect((await stat(join(dev.dir, "new-key.pem"))).mode & 0o077).toBe(0);
    const shown = scriptedHost({ cwd: dev.dir });
    expect(await run(["org", "show", "--cert", "new.pem", "--key", "new-key.pem", ...to], shown), shown.lines.join()).toBe(0);
    expect(shown.json()).toMatchObject({ organizations: [{ id: "acme" }] });
  });

  it("the audit log verifies, and lists what was done", async () => {
    const verified = await call(["audit", "verify"]);
    expect([verified.code, verified.json()["valid"]]).toEqual([0, true]);
    await run(["audit", "witness-key", "--name", "w.example", "--out", "witness.pem"], scriptedHost({ cwd: dev.dir }));
    const witness = ["audit", "witness", "acme.checkpoint", "--witness-key", "witness.pem", "--name", "w.example"];
    const [first, second] = [await call(witness), await call(witness)];
    expect([first.code, second.code], first.lines.join()).toEqual([0, 0]);
    expect([first.json()["growth"], second.json()["growth"]]).toEqual(["first", expect.stringMatching(/^(same|grown)$/)]);
    const since = await call([
      "audit",
      "verify",
      "--checkpoint",
      "acme.checkpoint",
      "--witness",
      String(second.json()["witness"]),
    ]);
    expect([since.code, since.json()["valid"]], since.lines.join()).toEqual([0, true]);
    const listed = await call(["audit", "list", "--limit", "5"]);
    expect((listed.json()["events"] as unknown[]).length).toBe(5);
  });

  it("refusals, mistakes and silence end with different codes", async () => {
    const host = scriptedHost({ cwd: dev.dir });
    const as = ["--credentials", dev.credentials];
    expect(await run(["ceremony", "generate", "--shares", "3", "--threshold", "2", "--as", "acme/auditor", ...as], host)).toBe(4);
    expect(
      await run(["ceremony", "generate", "--shares", "3", "--threshold", "9", "--as", "globex/super_admin", ...as], host),
    ).toBe(2);
    expect(await run(["audit", "verify", "--url", "https://127.0.0.1:1", "--as", "acme/auditor", ...as], host)).toBe(3);
    expect(await run(["no-such-command"], host)).toBe(2);
    expect(await run(["org", "create", "acme", "--set", `data_dir=${dev.dir}`], host)).toBe(3);
  });
});

describe("API keys by the command line", () => {
  it("a created key works, a rotated or revoked one does not", async () => {
    const dev = await openDevProcess("express");
    try {
      const credentials = JSON.parse(await readFile(dev.credentials, "utf8"));
      await writeFile(join(dev.dir, "admin.key"), credentials.organizations.acme.governance.api_key);
      const url = credentials.base_urls.governance;
      const call = async (...args: string[]) => {
        const host = scriptedHost({ cwd: dev.dir });
        const code = await run(
          ["apikey", ...args, "--url", url, "--ca", credentials.ca, "--key-file", "admin.key", "--json"],
          host,
        );
        return { code, host };
      };
      const created = await call("create", "--name", "etl", "--scopes", "classify");
      expect(created.code, created.host.lines.join()).toBe(0);
      const { id, api_key } = created.host.json();
      expect(String(api_key)).toMatch(/^sgk_/);
      const listed = await call("list");
      expect(JSON.stringify(listed.host.json())).not.toContain(String(api_key));
      const rotated = await call("rotate", String(id));
      expect(rotated.host.json()["api_key"]).not.toBe(api_key);
      expect((await call("revoke", String(id))).code).toBe(0);
      expect((await call("rotate", String(id))).code).toBe(2);
    } finally {
      await dev.close();
    }
  });
});
