import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { type DevProcess, openDevProcess } from "./dev-process.ts";
import { scriptedHost } from "./scripted-host.ts";

/** The commands of docs/gateway.md for messages, as they are typed there. */
const page = await readFile(new URL("../../../docs/gateway.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### Messages");
const [NEW = "", CARD = "", SEND = "", READ = ""] = [...section.matchAll(/^seneschal (.*?)(?: +#.*)?$/gm)].map(
  ([, line]) => line ?? "",
);

const PASSPHRASE = "one for all of them";
const people = { ada: "acme/security_admin", hank: "globex/super_admin", eve: "acme/operations_admin" } as const;
type Name = keyof typeof people;

describe("a message from a card to a card", () => {
  let dev: DevProcess;
  beforeAll(async () => {
    dev = await openDevProcess();
    const { organizations } = JSON.parse(await readFile(dev.credentials, "utf8"));
    for (const [name, as] of Object.entries(people)) {
      const [org = "", role = ""] = as.split("/");
      const made = NEW.replace("acme", org).replace("ID", organizations[org].admins[role].id).replace("ada", name);
      expect((await call(made, PASSPHRASE, PASSPHRASE)).code).toBe(0);
      expect((await call(CARD.replaceAll("ada", name))).code).toBe(0);
    }
  });
  afterAll(() => dev.close());

  const call = async (line: string, ...secrets: string[]) => {
    const host = scriptedHost({ cwd: dev.dir, secrets });
    const code = await run(
      [...line.split(" "), ...(line.includes("--as") ? ["--credentials", dev.credentials] : []), "--json"],
      host,
    );
    return { code, json: () => host.json(), said: [...host.lines, ...host.errors].join("\n") };
  };
  const send = async (text: string | Uint8Array, change = (line: string) => line) => {
    await writeFile(join(dev.dir, "body.txt"), text);
    return call(change(SEND), PASSPHRASE);
  };
  const read = (id: unknown, reader: Name, sender: Name, as: Name = "hank", more = "") => {
    const line = READ.replace("MESSAGE", String(id)).replace("hank.keys", `${reader}.keys`).replace("ada.card", `${sender}.card`);
    return call(line.replace(people.hank, people[as]) + more, PASSPHRASE);
  };

  test("is read by its recipient, who has the sender's card, and by nobody else; what the gateways have says nothing", async () => {
    const text = "the price is forty-two million\n";
    const sent = await send(text);
    expect(sent.code, sent.said).toBe(0);
    const { id } = sent.json();
    const held = (await call(`gateway get-message ${id} --as ${people.hank}`)).json();
    expect(Buffer.from(String(held["body"]), "base64").includes("forty-two")).toBe(false);
    const got = await read(id, "hank", "ada");
    expect(got.code, got.said).toBe(0);
    expect(got.json()).toMatchObject({ id, sender_org_id: "acme", subject: "terms", text });
    expect((await read(id, "eve", "ada")).json()).toMatchObject({ error: { code: "decryption_failed" } });
    expect((await read(id, "hank", "eve")).json()).toMatchObject({ error: { code: "usage" } });
    expect((await read(id, "eve", "ada", "eve")).json()).toMatchObject({ error: { code: "NOT_FOUND" } });
  });

  test("goes out under the identity whose keys seal it, or its sender is told that nobody can open it", async () => {
    const { code, json } = await send("x", (line) => line.replace(people.ada, people.eve));
    expect([code, json()]).toMatchObject([
      2,
      { error: { code: "usage", message: expect.stringContaining("nobody can open it") } },
    ]);
  });

  test("that is no plain text goes to a file that its reader names, and never to the terminal", async () => {
    for (const [i, bytes] of [
      Buffer.from("\u001b]0;owned\u0007"),
      Buffer.from([0xff, 0xfe]),
      Buffer.from("a\u202eb"),
    ].entries()) {
      const { id } = (await send(bytes)).json();
      expect((await read(id, "hank", "ada")).json()).toMatchObject({ error: { code: "usage" } });
      const out = await read(id, "hank", "ada", "hank", ` --out got-${i}`);
      expect(out.code, out.said).toBe(0);
      expect(await readFile(join(dev.dir, `got-${i}`))).toEqual(bytes);
      expect((await stat(join(dev.dir, `got-${i}`))).mode & 0o077).toBe(0);
    }
  });

  test("is sealed to a card whose proofs hold, or to none", async () => {
    const card = JSON.parse(await readFile(join(dev.dir, "hank.card"), "utf8"));
    const eve = JSON.parse(await readFile(join(dev.dir, "eve.card"), "utf8"));
    await writeFile(join(dev.dir, "mixed.card"), JSON.stringify({ ...card, agreement_key: eve.agreement_key }));
    const { json } = await send("x", (line) => line.replace("hank.card", "mixed.card"));
    expect(json()).toMatchObject({ error: { code: "custody_invalid" } });
  });

  test("is sealed to a card that the gateways give, once its holder agrees; a fingerprint that the person did not read writes nothing", async () => {
    const [, cards = ""] = page.split("### Cards of a partner's people");
    const [SHARE = "", GET = "", AGAIN = ""] = [...cards.matchAll(/^seneschal (.*)$/gm)].map(([, line]) => line ?? "");
    const hank = JSON.parse(await readFile(join(dev.dir, "hank.card"), "utf8"));
    const done = async (line: string) => {
      const answer = await call(line);
      expect(answer.code, `${line}: ${answer.said}`).toBe(0);
      return answer.json();
    };
    const { id, fingerprint } = await done(`custodian enroll hank.keys --as ${people.hank}`);
    for (const role of ["security_admin", "operations_admin"])
      await done(`gateway confirm-custodian ${id} --fingerprint ${fingerprint} --as globex/${role}`);
    const get = GET.replace("ID", hank.custodian_id).replace("hank.card", "got.card");
    const again = (hex: string) =>
      AGAIN.replace("ID", hank.custodian_id).replace("hank.card", "got.card").replace("FINGERPRINT", hex);
    expect((await call(get)).json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    await done(SHARE.replace("ENROLLMENT", String(id)));
    expect((await call(again("00".repeat(32)))).code).toBe(1);
    await expect(stat(join(dev.dir, "got.card"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await done(get)).toMatchObject({ written: true, fingerprint, other: null });
    expect(JSON.parse(await readFile(join(dev.dir, "got.card"), "utf8"))).toEqual(hank);
    expect(JSON.parse(await readFile(join(dev.dir, "hank.statement"), "utf8"))).toMatchObject({ statement: { card: hank } });
    await done(again(String(fingerprint)));
    const sent = await send("sealed to a card that was asked for", (line) => line.replace("hank.card", "got.card"));
    expect((await read(sent.json()["id"], "hank", "ada")).json()).toMatchObject({ text: "sealed to a card that was asked for" });
  });
});
