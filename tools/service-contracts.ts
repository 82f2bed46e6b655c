import type { Contract, OpenApiInfo } from "@seneschal/contract";

/** A service's contract as its package exports it. */
export interface ServiceContract extends Omit<OpenApiInfo, "version"> {
  readonly contract: Contract;
}

const SERVICES = {
  gateway: { port: 8443, load: () => import("@seneschal/contract/gateway") },
  governance: { port: 8444, load: () => import("@seneschal/contract/governance") },
  scheduler: { port: 8445, load: () => import("@seneschal/contract/scheduler") },
  storage: { port: 9090, load: () => import("@seneschal/contract/storage") },
} as const;

export const SERVICE_NAMES = Object.keys(SERVICES) as readonly (keyof typeof SERVICES)[];

/** `undefined` for a service that has no contract. */
export async function serviceContract(name: string): Promise<ServiceContract | undefined> {
  if (!Object.hasOwn(SERVICES, name)) return undefined;
  const { port, load } = SERVICES[name as keyof typeof SERVICES];
  const exported: Readonly<Record<string, unknown>> = await load();
  const [contract, info] = [exported[`${name}Contract`], exported[`${name}Info`]];
  if (contract === undefined || info === undefined) return undefined;
  const servers = [`https://localhost:${port}`];
  return { ...(info as Omit<OpenApiInfo, "version">), servers, contract: contract as Contract };
}
