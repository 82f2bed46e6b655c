import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { notFound, timestamp } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import type { PeopleServices } from "../services.ts";
import { type StoredService, serviceIdentities } from "./collections.ts";
import { issueCredential, retireCredentials } from "./credentials.ts";
import { removeService } from "./remove.ts";

type Routes = Pick<GatewayContract, "createService" | "listServices" | "getService" | "deleteService" | "rotateService">;

async function findService(read: Reader, id: string, org: string): Promise<StoredService> {
  const service = await read.get(serviceIdentities, id);
  if (service === undefined || service.org_id !== org) throw notFound("service");
  return service;
}

export const serviceHandlers: Handlers<Routes, PeopleServices> = {
  async createService(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const at = timestamp(now);
      const facts = { id: services.newId(now), org_id: principal.org, ...body };
      const { kept, shown } = await issueCredential(services, unit, facts);
      const service: StoredService = {
        ...facts,
        active: true,
        last_auth_at: null,
        credentials: [kept],
        created_at: at,
        updated_at: at,
      };
      unit.insert(serviceIdentities, service.id, service);
      unit.record({ type: "service.create", metadata: { service_id: service.id, auth_method: service.auth_method } });
      return { ...service, credentials: { ...shown, previous_valid_until: null } };
    });
  },

  async listServices({ read }, { principal, query }) {
    const { items, total } = await read.page(serviceIdentities, "by_org", [principal.org], query);
    return { services: [...items], count: items.length, total };
  },

  getService: ({ read }, { principal, params }) => findService(read, params.id, principal.org),

  async deleteService(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const service = await findService(unit, params.id, principal.org);
      await removeService(services, unit, principal.org, service.id);
    });
  },

  async rotateService(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const service = await findService(unit, params.id, principal.org);
      const { kept, shown } = await issueCredential(services, unit, service);
      const until = timestamp(now + services.config.services.overlap);
      const previous = service.credentials.map((old) => ({ ...old, valid_until: old.valid_until ?? until }));
      const rotated = await retireCredentials(unit, {
        ...service,
        credentials: [kept, ...previous],
        updated_at: timestamp(now),
      });
      unit.put(serviceIdentities, service.id, rotated);
      unit.record({ type: "service.rotate", metadata: { service_id: service.id, previous_valid_until: until } });
      return { ...rotated, credentials: { ...shown, previous_valid_until: until } };
    });
  },
};
