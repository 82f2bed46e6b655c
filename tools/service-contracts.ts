import type { Contract, ErrorTable } from "@seneschal/contract";

/** A service's contract as its package exports it. */
export interface ServiceContract {
  readonly title: string;
  readonly contract: Contract;
  readonly errors: ErrorTable;
}

const SERVICES = {
  gateway: { title: "Seneschal key governance", errors: "gatewayErrors", load: () => import("@seneschal/contract/gateway") },
  governance: {
    title: "Seneschal data governance",
    errors: "governanceErrors",
    load: () => import("@seneschal/contract/governance"),
  },
  scheduler: { title: "Seneschal scheduler", errors: "schedulerErrors", load: () => import("@seneschal/contract/scheduler") },
  storage: { title: "Seneschal storage node", errors: "storageHttpErrors", load: () => import("@seneschal/contract/storage") },
} as const;

export const SERVICE_NAMES = Object.keys(SERVICES) as readonly (keyof typeof SERVICES)[];

/** `undefined` for a service that has no contract. */
export async function serviceContract(name: string): Promise<ServiceContract | undefined> {
  if (!Object.hasOwn(SERVICES, name)) return undefined;
  const { title, errors, load } = SERVICES[name as keyof typeof SERVICES];
  const exported: Readonly<Record<string, unknown>> = await load();
  const [contract, table] = [exported[`${name}Contract`], exported[errors]];
  if (contract === undefined || table === undefined) return undefined;
  return { title, contract: contract as Contract, errors: table as ErrorTable };
}
