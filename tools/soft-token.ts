/** A throw-away PKCS#11 token of SoftHSM2 for tests. Both SoftHSM2 and the package that calls it are put there by tools/install-peers.sh. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const peers = new URL("../.peers/pkcs11/", import.meta.url);
const lib = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/local/lib/softhsm/libsofthsm2.so"].find((path) => existsSync(path));
/** Where a process finds the package: its NODE_PATH. */
export const pkcs11Packages = fileURLToPath(new URL("node_modules", peers));
const hasPackage = existsSync(join(pkcs11Packages, "pkcs11js"));

/** What is not installed, for a suite's name; empty when all is there. */
export const missingForTokens = [...(lib === undefined ? ["SoftHSM2"] : []), ...(hasPackage ? [] : ["pkcs11js"])].join(" and ");
export const loadPkcs11 = (): unknown => createRequire(peers)("pkcs11js");

export interface SoftToken {
  readonly lib: string;
  readonly tokenLabel: string;
  readonly pin: string;
  /** The file that tells SoftHSM2 where its tokens lie: SOFTHSM2_CONF, which is set in this process too. */
  readonly conf: string;
  /** Makes keys in the token: AES-256 to encrypt, or P-256 to derive; none can be taken out. */
  generate(kind: "aes" | "p256", ...labels: readonly string[]): void;
  /** The public half of a P-256 key: SEC 1, uncompressed. */
  publicKey(label: string): Buffer;
  destroy(): void;
}

/** Another token of the same label and PIN holds other keys: so a test can take one out and put in another. */
export function openSoftToken(tokenLabel: string): SoftToken {
  const directory = mkdtempSync(join(tmpdir(), "soft-token-"));
  mkdirSync(join(directory, "tokens"));
  const conf = join(directory, "softhsm2.conf");
  writeFileSync(conf, `directories.tokendir = ${join(directory, "tokens")}\nobjectstore.backend = file\n`);
  process.env["SOFTHSM2_CONF"] = conf;
  const pin = "1234";
  execFileSync("softhsm2-util", ["--init-token", "--free", "--label", tokenLabel, "--pin", pin, "--so-pin", "5678"]);
  // biome-ignore lint/suspicious/noExplicitAny: the package is not there when types are checked
  const within = <R>(use: (module: any, session: Buffer, js: any) => R): R => {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const js = loadPkcs11() as any;
    const module = new js.PKCS11();
    module.load(lib);
    module.C_Initialize();
    try {
      const slot = module.C_GetSlotList(true).find((one: Buffer) => module.C_GetTokenInfo(one).label.trim() === tokenLabel);
      const session = module.C_OpenSession(slot, js.CKF_SERIAL_SESSION | js.CKF_RW_SESSION);
      module.C_Login(session, js.CKU_USER, pin);
      return use(module, session, js);
    } finally {
      module.C_Finalize();
      module.close();
    }
  };
  return {
    lib: lib ?? "",
    tokenLabel,
    pin,
    conf,
    generate: (kind, ...labels) =>
      within((module, session, js) => {
        const yes = (...types: readonly string[]) => types.map((type) => ({ type: js[type], value: true }));
        for (const label of labels) {
          const named = { type: js.CKA_LABEL, value: label };
          const kept = [named, { type: js.CKA_EXTRACTABLE, value: false }, ...yes("CKA_TOKEN", "CKA_PRIVATE", "CKA_SENSITIVE")];
          if (kind === "aes") {
            const key = [
              { type: js.CKA_CLASS, value: js.CKO_SECRET_KEY },
              { type: js.CKA_VALUE_LEN, value: 32 },
            ];
            module.C_GenerateKey(session, { mechanism: js.CKM_AES_KEY_GEN }, [
              ...kept,
              ...key,
              ...yes("CKA_ENCRYPT", "CKA_DECRYPT"),
            ]);
          } else {
            const curve = { type: js.CKA_EC_PARAMS, value: Buffer.from("06082a8648ce3d030107", "hex") };
            const mechanism = { mechanism: js.CKM_EC_KEY_PAIR_GEN };
            module.C_GenerateKeyPair(session, mechanism, [named, curve, ...yes("CKA_TOKEN")], [...kept, ...yes("CKA_DERIVE")]);
          }
        }
      }),
    publicKey: (label) =>
      within((module, session, js) => {
        module.C_FindObjectsInit(session, [
          { type: js.CKA_CLASS, value: js.CKO_PUBLIC_KEY },
          { type: js.CKA_LABEL, value: label },
        ]);
        const [key] = module.C_FindObjects(session, 1);
        // DER: an octet string of 65 bytes.
        return module.C_GetAttributeValue(session, key, [{ type: js.CKA_EC_POINT }])[0].value.subarray(2);
      }),
    destroy: () => rmSync(directory, { recursive: true, force: true }),
  };
}
