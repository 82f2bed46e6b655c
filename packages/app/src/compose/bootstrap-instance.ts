import { randomUUID, X509Certificate } from "node:crypto";
import { access, mkdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { requireThreshold } from "@seneschal/core/keys";
import { crkToJson } from "@seneschal/crypto/threshold";
import {
  createRequest,
  decodePem,
  decodePrivateKey,
  encodePem,
  encodePrivateKey,
  localSigner,
  newPrivateKey,
  requestPem,
} from "@seneschal/crypto/x509";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import {
  adminOf,
  enrolFirstAdmin,
  type GatewayServices,
  makeFirstWorkspace,
  rootKeyOf,
  serverCertificate,
  storeFirstRootKey,
  systemCall,
} from "../gateway/index.ts";
import { requireOrganizationId } from "./create-organization.ts";
import { operateGateway } from "./operate-gateway.ts";
import type { OperateOptions } from "./operator-platform.ts";
import { prepareData } from "./prepare-data.ts";
import { replaceFile } from "./private-files.ts";
import type { ProcessConfig } from "./process-settings.ts";
import { sealOf } from "./storage-settings.ts";

/** What a new instance is to begin with. */
export interface BootstrapOptions extends OperateOptions {
  readonly org: string;
  readonly email: string;
  readonly name: string;
  /** Name of the first workspace. */
  readonly workspace: string;
  /** Shares of the root key, and how many of them sign. */
  readonly shares: number;
  readonly threshold: number;
  /** Host names and addresses of the gateway's own certificate, where the configured one is not there yet. */
  readonly serverNames: readonly string[];
  /** Directory that the admin's certificate, the shares and what clients pin go to. */
  readonly out: string;
}

/** What was found or made, with the files that hold it. */
export interface Bootstrapped {
  readonly instance_id: string;
  readonly unseal_key: string | null;
  readonly organization: string;
  readonly admin: {
    readonly id: string;
    readonly email: string;
    readonly certificate: string;
    readonly key: string;
    readonly expiration: string;
  };
  readonly root_key: {
    readonly id: string;
    readonly public_key: string;
    readonly threshold: number;
    /** The public half, as `seneschal sign` takes it. */
    readonly file: string;
    readonly shares: readonly string[];
  };
  readonly workspace: { readonly id: string; readonly name: string };
  /** What clients verify the gateway against, where its certificate is of its own CA. */
  readonly ca: string;
  readonly server_certificate: string | null;
  /** The steps of this run that made something; what is not among them was there. */
  readonly made: readonly string[];
}

/**
 * Takes a new instance to its first organisation, admin, root key and workspace, while its gateway is stopped. May be run again: each
 * step finds what is there, so that a run that was ended goes on where it stood. Shares are on disk before their key counts.
 */
export async function bootstrapInstance(config: ProcessConfig, options: BootstrapOptions): Promise<Bootstrapped> {
  checkOptions("options", options, {
    org: "string",
    email: "string",
    name: "string",
    workspace: "string",
    shares: "number",
    threshold: "number",
    serverNames: "array",
    out: "string",
    log: "object",
    version: "string",
    operators: "function?",
  });
  checkArgument("config", config, "object");
  const { org, shares, threshold, workspace, out } = options;
  requireOrganizationId(org);
  requireThreshold(threshold, shares);
  await mkdir(out, { recursive: true, mode: 0o700 });
  const made: string[] = [];
  const { vault, server } = config.gateway;
  const seal = sealOf(vault);
  const embedded = seal?.kind === "key_file" && seal.key_file === undefined;
  const data = embedded ? await prepareData(config.data_dir, systemRandom) : undefined;
  if (data?.made === true) made.push("unseal key");
  const certified = await isThere(server.tls_cert);
  if (!certified && server.tls_key !== undefined && (await isThere(server.tls_key)))
    throw new CodedError("usage", `${server.tls_key} is there, but not its certificate ${server.tls_cert}: put both, or neither`);

  return operateGateway(withoutFiles(config, certified), options, async (services) => {
    const admin = await theAdmin(services, options, made);
    const rootKey = await theRootKey(services, options, made);
    const first = await theWorkspace(services, join(out, "workspace.json"), admin.id, options, made);
    const { tls_cert, tls_key } = server;
    if (tls_cert !== undefined && tls_key !== undefined && !certified) {
      const names = options.serverNames.length > 0 ? options.serverNames : [hostname(), "localhost", "127.0.0.1"];
      const issued = await serverCertificate(services, { names, now: systemClock.now() });
      await mkdir(dirname(tls_cert), { recursive: true });
      await mkdir(dirname(tls_key), { recursive: true });
      await replaceFile(tls_key, issued.key);
      await replaceFile(tls_cert, issued.cert + issued.chain);
      made.push("server certificate");
    }
    const ca = join(out, "ca.pem");
    await replaceFile(ca, await anchor(services));
    return {
      instance_id: services.instance,
      unseal_key: data?.unsealKey ?? null,
      organization: org,
      admin,
      root_key: rootKey,
      workspace: { id: first, name: workspace },
      ca,
      server_certificate: tls_cert === undefined ? null : resolve(tls_cert),
      made,
    };
  });
}

/** Files that the gateway's port needs may not be there yet, and nothing here listens. */
function withoutFiles(config: ProcessConfig, certified: boolean): ProcessConfig {
  const { tls_cert: _, tls_key: __, ...server } = config.gateway.server;
  const { crl_url: ___, ...mtls } = config.auth.mtls;
  const gateway = certified ? config.gateway : { ...config.gateway, server };
  return { ...config, gateway, auth: { ...config.auth, mtls, oidc: { ...config.auth.oidc, enabled: false } } };
}

async function theAdmin(
  services: GatewayServices,
  { org, email, name, out }: BootstrapOptions,
  made: string[],
): Promise<Bootstrapped["admin"]> {
  const files = { certificate: join(out, "admin.pem"), key: join(out, "admin-key.pem") };
  const known = await adminOf(services, org, email);
  const held = (await isThere(files.certificate)) ? new X509Certificate(await readFile(files.certificate)) : undefined;
  if (known?.cert_serial != null && held !== undefined && serialOf(held) === known.cert_serial)
    return { id: known.id, email, ...files, expiration: known.cert_expiry ?? "" };
  // The key is safe before anybody certifies it.
  if (!(await isThere(files.key))) {
    const fresh = newPrivateKey(nodeCrypto, "p256", systemRandom);
    await replaceFile(files.key, encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, fresh)));
  }
  const [der] = decodePem("PRIVATE KEY", await readFile(files.key, "utf8"));
  if (der === undefined) throw new CodedError("file_invalid", `${files.key} holds no private key`);
  const signer = localSigner(nodeCrypto, decodePrivateKey(der));
  const request = requestPem(await createRequest(signer, { subject: [{ type: "CN", value: email }] }));
  const { admin, chain } = await enrolFirstAdmin(services, { org, email, name, request });
  await replaceFile(files.certificate, chain.join(""));
  made.push(...(known === undefined ? ["organisation", "admin"] : ["admin certificate"]));
  return { id: admin.id, email, ...files, expiration: admin.cert_expiry ?? "" };
}

async function theRootKey(
  services: GatewayServices,
  { org, shares: total, threshold, out }: BootstrapOptions,
  made: string[],
): Promise<Bootstrapped["root_key"]> {
  const file = join(out, "root-key.json");
  const shareFile = (index: number): string => join(out, `share-${index}.json`);
  let crk = await rootKeyOf(services, org);
  if (crk === undefined) {
    const dealt = await services.threshold.dealCrk({ threshold, total }, org);
    const erase = (): void => {
      for (const share of dealt.shares) share.erase();
    };
    try {
      for (const share of dealt.shares)
        await replaceFile(shareFile(share.index), `${JSON.stringify({ index: share.index, data: share.encode() })}\n`);
      await replaceFile(file, `${JSON.stringify(crkToJson(dealt.crk))}\n`);
      const stored = await storeFirstRootKey(services, org, { material: async () => dealt, erase });
      crk = stored.crk;
      if (stored.made) made.push("root key");
    } finally {
      erase();
    }
  }
  const { id, public_key, threshold: needed, total_shares } = crk;
  await replaceFile(file, `${JSON.stringify(crk.material)}\n`);
  const there: string[] = [];
  for (let index = 1; index <= total_shares; index++) if (await isThere(shareFile(index))) there.push(shareFile(index));
  return { id, public_key, threshold: needed, file, shares: there };
}

/** The id is chosen before the workspace is made: done again, it is the same one. */
async function theWorkspace(
  services: GatewayServices,
  file: string,
  adminId: string,
  { org, email, workspace: name }: BootstrapOptions,
  made: string[],
): Promise<string> {
  if (!(await isThere(file))) await replaceFile(file, `${JSON.stringify({ id: randomUUID(), name })}\n`);
  const { id } = JSON.parse(await readFile(file, "utf8")) as { readonly id: string };
  const admin = await adminOf(services, org, email);
  if (admin?.id !== adminId) throw new Error("the admin is gone");
  if (await makeFirstWorkspace(services, admin, { id, name })) made.push("workspace");
  return id;
}

function anchor(services: GatewayServices): Promise<string> {
  const call = systemCall("system:operator", services.instance, systemClock.now());
  return services.transact(call, (unit) => services.pki.trustAnchor(unit, "servers"));
}

async function isThere(path: string | undefined): Promise<boolean> {
  if (path === undefined) return false;
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Lower-case hex with colons. */
function serialOf({ serialNumber }: X509Certificate): string {
  return (serialNumber.toLowerCase().match(/../g) ?? []).join(":");
}
