import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { notFound } from "@seneschal/core/keys";
import { crks, crkView, listed, organizations, pageOf, type StoredOrganization } from "../ground/index.ts";
import type { PeopleServices } from "./services.ts";

type Routes = Pick<GatewayContract, "listOrganizations" | "getOrganization">;

async function view(services: PeopleServices, org: StoredOrganization) {
  const crk = org.crk_id === null ? undefined : await services.read.get(crks, org.crk_id);
  return { ...org, crk: crk === undefined ? null : crkView(crk) };
}

export const organizationHandlers: Handlers<Routes, PeopleServices> = {
  async listOrganizations(services, { principal, query }) {
    const own = await services.read.get(organizations, principal.org);
    const all = own === undefined ? [] : [await view(services, own)];
    return listed("organizations", pageOf(all, query));
  },

  async getOrganization(services, { principal, params }) {
    const own = params.id === principal.org ? await services.read.get(organizations, params.id) : undefined;
    if (own === undefined) throw notFound("organization");
    return view(services, own);
  },
};
