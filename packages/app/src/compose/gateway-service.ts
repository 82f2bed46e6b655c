import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { vaultCollections } from "@seneschal/adapters/vault";
import { gatewayContract } from "@seneschal/contract/gateway";
import { parseCertificates } from "@seneschal/crypto/x509";
import { type Gateway, gatewaySchema, openGateway } from "../gateway/index.ts";
import { type BuiltService, defineService, type Platform, tokenVerifiers } from "../platform/index.ts";
import { openDatabase } from "./open-database.ts";
import { openVault } from "./open-vault.ts";
import { preparedInstance } from "./prepare-data.ts";
import { revocationLists } from "./revocation-lists.ts";
import { type GatewayServiceConfig, gatewayServiceSettings } from "./service-settings.ts";

/** The gateway service with its parts below `dataDir`. */
export function gatewayService(dataDir: string) {
  return defineService({
    name: "gateway",
    contract: gatewayContract,
    settings: gatewayServiceSettings,
    build: (config, platform): Promise<BuiltService> => buildGateway(config, platform, dataDir),
  });
}

/** Opens store, vault and gateway; what was opened is closed again by `stop`, and when something fails on the way. */
export async function buildGateway(config: GatewayServiceConfig, platform: Platform, dataDir: string): Promise<Gateway> {
  const { database, vault: vaultConfig, ...rest } = config;
  const own = { ...rest, backup: { location: rest.backup.location ?? join(dataDir, "gateway-backups") } };
  const { clock, random, log, metrics, version, background, health } = platform;
  const schema = { ...gatewaySchema, collections: { ...gatewaySchema.collections, ...vaultCollections } };
  const store = await openDatabase(database, schema, join(dataDir, "gateway"));
  try {
    const vault = await openVault(vaultConfig, join(dataDir, "unseal.key"), { store, crypto: nodeCrypto, clock, random });
    const { threads, policy_deadline: deadline } = own.workers;
    const policy = embeddedPolicyEngine({ threads, deadline });
    const tokens = await tokenVerifiers(own.auth, () => clock.now());
    const prepared = await preparedInstance(dataDir);
    const revocations = await revocationLists(own.auth, platform);
    const gateway = await openGateway({
      ...{
        store,
        vault,
        crypto: nodeCrypto,
        policy,
        clock,
        random,
        config: own,
        log,
        metrics,
        version,
        background,
        health,
        tokens,
      },
      ...(revocations === undefined ? {} : { revocations }),
      ...(prepared === undefined ? {} : { preparedInstance: prepared }),
      ownNames: await certifiedNames(own.server.tls_cert),
    });
    return {
      ...gateway,
      async stop() {
        revocations?.close();
        await gateway.stop?.();
        await policy.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The names in the certificate of the gateway's own port. */
async function certifiedNames(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const [certificate] = parseCertificates(await readFile(path, "utf8"));
  return (certificate?.extensions.subjectAltNames ?? []).map(({ value }) => value);
}
