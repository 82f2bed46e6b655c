import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fromHex, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type CustodianCard,
  ceremonyStep,
  confirmationOf,
  encodeTranscript,
  openKeyFile,
  readKeyFile,
  type TranscriptEntry,
  takeSeat,
} from "@seneschal/crypto/custody";
import { aggregateSignature, newSigningRound, type RoundCommitment, Signer } from "@seneschal/crypto/threshold";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOW, person, Relay, starter, startOf, witness } from "../custody/rig.ts";

const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) console.warn("no Chromium: no security key seals a key file");

/** The functions of docs/custody.md, as they stand there. */
const documented = async (): Promise<string> => {
  const page = await readFile(new URL("../../../../docs/custody.md", import.meta.url), "utf8");
  return /^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
};

/** The library and a page's part as one script without imports, as an application's bundler makes it. */
async function bundled(): Promise<string> {
  const entry = new URL("browser-custodian.ts", import.meta.url).pathname;
  const output = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["@seneschal/source", "browser", "import", "default"] },
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "bundle" } },
  });
  const [{ output: chunks }] = output as unknown as [{ readonly output: readonly { readonly code?: string }[] }];
  return chunks[0]?.code ?? "";
}

interface Sealed {
  readonly file: string;
  readonly keys: string;
  readonly answer: string;
}

describe.skipIf(browserPath === undefined)("a custodian in a browser, whose key file a security key seals", () => {
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  let page: Page;
  let devtools: CDPSession;
  let made: Sealed;
  /** A security key in the browser, as Chromium plays it: CTAP 2.1, by USB, somebody there who touches it. */
  const plugIn = async (options: object = {}): Promise<string> => {
    const key = { protocol: "ctap2", ctap2Version: "ctap2_1", transport: "usb", automaticPresenceSimulation: true } as const;
    const verified = { hasUserVerification: true, isUserVerified: true, hasPrf: true };
    const all = { options: { ...key, ...verified, ...options } };
    return (await devtools.send("WebAuthn.addVirtualAuthenticator", all)).authenticatorId;
  };
  const unplug = (authenticatorId: string) => devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
  let key: string;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });
    page = await browser.newPage();
    await page.route("http://localhost/", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await page.goto("http://localhost/");
    await page.addScriptTag({ content: await documented() });
    await page.addScriptTag({ content: await bundled() });
    devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    key = await plugIn();
    made = (await page.evaluate("sealed('localhost')")) as Sealed;
  });
  afterAll(() => browser?.close());

  const open = (file: string): Promise<unknown> => page.evaluate(`opened(${JSON.stringify(file)})`);

  test("takes a seat in a ceremony beside clients elsewhere, and signs with the share that comes of it, which stays in the page", async () => {
    const inPage = <T>(call: string, ...args: readonly unknown[]) =>
      page.evaluate(`custodianHere.${call}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`) as Promise<T>;
    await page.evaluate("globalThis.custodianHere = custodian('ada')");
    const others = [person("bob"), person("cy")];
    const card = await inPage<CustodianCard>("card");
    const relay = new Relay();
    expect(relay.say(starter, startOf(3, 2, { seats: [card, ...others.map((one) => one.card)] }))).toBeUndefined();
    const states = others.map(({ keys, id }) => takeSeat(relay.view, keys, seeded(`state/${id}`)));
    const said: string[] = [];
    const turn = async () => {
      const transcript = Buffer.from(encodeTranscript(relay.entries)).toString("utf8");
      const made = await inPage<{ readonly entries: readonly TranscriptEntry[]; readonly outcome: string }>(
        "turn",
        transcript,
        NOW,
      );
      for (const entry of made.entries) {
        expect(relay.post(entry)).toBeUndefined();
        said.push(entry.act.type);
      }
      return made.outcome;
    };
    const step = (i: number) => {
      const { view } = relay;
      const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
      const made = ceremonyStep(nobleCrypto, { keys: others[i]!.keys, state: states[i]!, view, at: NOW, ...confirm });
      states[i] = made.state;
      for (const entry of made.entries) relay.post(entry);
      return made.outcome;
    };
    for (let round = 0; round < 4; round++) {
      await turn();
      for (const i of [0, 1]) step(i);
    }
    relay.say(witness, confirmationOf("witness", relay.view));
    expect(await turn()).toBe("active");
    expect(said).toEqual(["join", "commitment", "packages", "accepted", "confirmation"]);

    const outcome = step(1);
    if (outcome.kind !== "active") throw new Error(outcome.kind);
    const round = newSigningRound(outcome.crk, "r1", utf8("release 7"));
    const signer = new Signer(outcome.crk, outcome.share, round, seeded("nonces"));
    const commitments = [await inPage<RoundCommitment>("commit", round), signer.commitment];
    const parts = [
      { index: 1, share: await inPage<string>("sign", round, commitments) },
      { index: 3, share: signer.sign(round, commitments).share },
    ];
    const signature = aggregateSignature(outcome.crk, round, commitments, parts);
    expect(nobleCrypto.ed25519Verify(outcome.crk.publicKey, utf8("release 7"), signature)).toBe(true);
  });

  test("opens by the same key there, and anywhere by what it answers; neither the keys nor the answer stand in the file", async () => {
    expect(await open(made.file)).toBe(made.keys);
    const { keys } = await openKeyFile(nobleCrypto, utf8(made.file), fromHex(made.answer));
    expect(hex(keys.toBytes())).toBe(made.keys);
    expect(readKeyFile(utf8(made.file)).seal).toMatchObject({ name: "webauthn-prf", rp_id: "localhost" });
    const [seed, secret, answer] = [made.keys.slice(0, 64), made.keys.slice(64), made.answer].map((text) =>
      Buffer.from(text, "hex"),
    );
    for (const bytes of [seed, secret, answer])
      for (const form of ["hex", "base64", "base64url", "latin1"] as const)
        expect(made.file).not.toContain((bytes as Buffer).toString(form).replace(/=+$/, "").slice(0, 42));
  });

  test("opens by no other credential of the key, by no other input, and with no other byte", async () => {
    expect(await page.evaluate(`refused(${JSON.stringify(made.file)})`)).toEqual({
      credential: "decryption_failed",
      input: "decryption_failed",
      flipped: ["custody_invalid", "decryption_failed"],
    });
  });

  test("opens for nobody whom the key has not verified, and by no key but the one", async () => {
    await devtools.send("WebAuthn.setUserVerified", { authenticatorId: key, isUserVerified: false });
    await expect(open(made.file)).rejects.toThrow("NotAllowedError");
    await unplug(key);
    const another = await plugIn();
    const other = (await page.evaluate("sealed('localhost')")) as Sealed;
    expect(await open(other.file)).toBe(other.keys);
    await expect(open(made.file)).rejects.toThrow("NotAllowedError");
    await unplug(another);
  });

  test("is not made by a key without hmac-secret", async () => {
    const plain = await plugIn({ hasPrf: false });
    await expect(page.evaluate("sealed('localhost')")).rejects.toThrow("no hmac-secret");
    await unplug(plain);
  });
});
