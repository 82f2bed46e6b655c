import { spawn } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openKeyFile, readKeyFile } from "@seneschal/crypto/custody";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForTokens, openSoftToken, pkcs11Packages, type SoftToken } from "../../../../tools/soft-token.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";

/** The commands of docs/custody.md for a key file that a token seals, as they are typed there. */
const page = await readFile(new URL("../../../../docs/custody.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### By a token, at the command line");
const [NEW = [], TO_PASSPHRASE = [], TO_TOKEN = []] = [...section.matchAll(/^seneschal (.*)$/gm)].map(([, line = ""]) =>
  line.split(" "),
);
const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const PASSPHRASE = "correct horse";

describe.skipIf(missingForTokens !== "")(
  `a custodian's key file that is sealed by a token${missingForTokens === "" ? ", of SoftHSM2" : ` (not installed: ${missingForTokens})`}`,
  () => {
    let cwd: string;
    let token: SoftToken;
    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "custodian-token-"));
      token = openSoftToken("ada");
      token.generate("p256", "custody");
      const made = await typed(NEW, token.pin);
      expect(made.code, made.out).toBe(0);
    });
    afterAll(async () => {
      token?.destroy();
      await rm(cwd, { recursive: true, force: true });
    });

    /** What a person types at a machine with this token in it, where the package that calls tokens is installed. */
    const typed = (line: readonly string[], ...secrets: readonly string[]) =>
      new Promise<{ code: number | null; out: string; json: () => Record<string, unknown> }>((resolve) => {
        const args = line.map((word) => (word.endsWith("softhsm2.so") ? token.lib : word));
        const env = { ...process.env, NODE_PATH: pkcs11Packages, SOFTHSM2_CONF: token.conf };
        const child = spawn(process.execPath, [...sourceOptions, MAIN, ...args, "--json"], { cwd, env });
        let out = "";
        const take = (data: Buffer): void => {
          out += data.toString();
        };
        child.stdout.on("data", take);
        child.stderr.on("data", take);
        child.stdin.end(secrets.map((secret) => `${secret}\n`).join(""));
        child.on("close", (code) => resolve({ code, out, json: () => JSON.parse(out.trim().split("\n").at(-1) ?? "") }));
      });
    const call = async (line: string, secret = PASSPHRASE) => {
      const host = scriptedHost({ cwd, secrets: [secret, secret] });
      const code = await run([...line.split(" "), "--json"], host);
      expect(code, [...host.lines, ...host.errors].join("\n")).toBe(0);
      return host.json();
    };
    const keyFile = () => readFile(join(cwd, "ada.keys"));

    it("takes part in a ceremony as any other, sealed anew on the way, and its share signs", async () => {
      for (const name of ["bob", "wim"]) await call(`custodian new --org acme --name ${name} --out ${name}.keys`);
      for (const name of ["ada", "bob", "wim"]) await call(`custodian card ${name}.keys --out ${name}.card`);
      const ada = async (line: string, ...secrets: readonly string[]) => {
        const done = await typed([...line.split(" "), "--pkcs11", token.lib], ...(secrets.length > 0 ? secrets : [token.pin]));
        expect(done.code, done.out).toBe(0);
        return done.json();
      };
      const act = "custodian act ceremony --keys ada.keys --state ada.state";
      const bob = (more = "") => call(`custodian act ceremony --keys bob.keys --state bob.state${more}`);
      await ada("custodian start ceremony --keys ada.keys --threshold 2 --witness wim.card --seat ada.card bob.card");
      expect(await ada(`${act} --join`)).toMatchObject({ acts: ["join", "commitment"] });
      await bob(" --join");

      // By a passphrase and back: what the keys have sealed opens all the while.
      const { fingerprint } = await call("custodian card ada.keys");
      await copyFile(join(cwd, "ada.keys"), join(cwd, "ada.before"));
      const away = await typed(TO_PASSPHRASE, token.pin, PASSPHRASE, PASSPHRASE);
      expect([away.code, away.json()]).toMatchObject([0, { fingerprint }]);
      expect(readKeyFile(await keyFile()).seal.name).toBe("argon2id");
      expect(await call(act)).toMatchObject({ acts: ["packages"] });
      const back = await typed(TO_TOKEN, PASSPHRASE, token.pin);
      expect([back.code, back.json()]).toMatchObject([0, { fingerprint, sealed_by: "pkcs11-ecdh" }]);
      expect(readKeyFile(await keyFile()).seal).toMatchObject({ name: "pkcs11-ecdh", token: "ada", key: "custody" });
      expect(await keyFile()).not.toEqual(await readFile(join(cwd, "ada.before")));

      await bob();
      await bob();
      const { transcript } = await ada(act);
      expect(transcript).toBeDefined();
      await ada(`${act} --confirm ${transcript}`);
      await bob(` --confirm ${transcript}`);
      await call(`custodian act ceremony --keys wim.keys --confirm ${transcript}`);
      expect(await ada(`${act} --share ada.share`)).toMatchObject({ outcome: "active" });
      await bob(" --share bob.share");
      await call("ceremony verify ceremony --active --crk crk");
      expect(await call("sign --crk crk --share ada.share bob.share --message eA==")).toHaveProperty("signature");
    });

    it("opens by nothing but that key of that token: not without the library, the PIN or the token, and by no other key of its labels", async () => {
      const before = await keyFile();
      const reseal = async (secrets: readonly string[], line = TO_PASSPHRASE) => {
        const { code, out } = await typed(line, ...secrets, PASSPHRASE, PASSPHRASE);
        expect(await keyFile()).toEqual(before);
        return [code, out];
      };
      expect(await reseal([token.pin], TO_PASSPHRASE.slice(0, 3))).toEqual([2, expect.stringContaining("--pkcs11")]);
      expect(await reseal([token.pin], [...TO_PASSPHRASE.slice(0, 4), "/none.so"])).toEqual([
        3,
        expect.stringContaining("token_unavailable"),
      ]);
      const [code, out] = await reseal(["987654"]);
      expect([code, out]).toEqual([2, expect.stringContaining("pin_refused")]);
      expect(out).not.toContain("987654");
      await expect(openKeyFile(nodeCrypto, before, PASSPHRASE)).rejects.toMatchObject({ code: "custody_invalid" });

      const first = token;
      token = openSoftToken("bob");
      expect(await reseal([token.pin])).toEqual([3, expect.stringContaining("no token ada")]);
      token.destroy();
      token = openSoftToken("ada");
      expect(await reseal([token.pin])).toEqual([3, expect.stringContaining("no private key custody")]);
      token.generate("p256", "custody");
      expect(await reseal([token.pin])).toEqual([2, expect.stringContaining("decryption_failed")]);
      token.destroy();
      token = first;
      const changed = before
        .toString()
        .replace(/"point":"BA?./, (text) => `${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`);
      await writeFile(join(cwd, "changed.keys"), changed);
      const line = TO_PASSPHRASE.map((word) => word.replace("ada.keys", "changed.keys"));
      const refused = await typed(line, token.pin, PASSPHRASE, PASSPHRASE);
      expect([refused.code, refused.out]).toEqual([3, expect.stringContaining("no ECDH on P-256 with this point")]);
    });
  },
);
