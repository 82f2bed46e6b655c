import { ensureOrganization, type Gateway } from "../../src/gateway/index.ts";

/** Makes an organisation without a root key, as the configuration does. */
export async function begin({ services }: Pick<Gateway, "services">, org: string): Promise<void> {
  const principal = { id: "system:test", type: "system", org, roles: [], scopes: [], method: "none" };
  await services.transact({ principal, now: services.clock.now(), requestId: "" }, (unit) =>
    ensureOrganization(unit, org, "configuration"),
  );
}
