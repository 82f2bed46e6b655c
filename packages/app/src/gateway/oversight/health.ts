import { type Handlers, withHeaders } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import type { PartnerServices } from "../partners/index.ts";

type Routes = Pick<GatewayContract, "health" | "ready" | "live" | "metrics" | "ssoConfig">;

export const healthHandlers: Handlers<Routes, PartnerServices> = {
  async health({ health, version, instance }) {
    const { status, components } = await health();
    const body = { status, version, instance_id: instance, components: { ...components } };
    return withHeaders({}, body, status === "healthy" ? 200 : 503);
  },

  async ready({ health }) {
    const { ready } = await health();
    return ready ? { status: "ready" as const } : withHeaders({}, { status: "not_ready" as const }, 503);
  },

  live: () => ({ status: "alive" as const }),

  async metrics({ metrics }) {
    return { mediaType: metrics.contentType, body: await metrics.text() };
  },

  ssoConfig({ config }) {
    const { enabled, issuer_url, client_id } = config.auth.oidc;
    return enabled ? { issuer_url: issuer_url ?? "", client_id: client_id ?? "" } : { issuer_url: "", client_id: "" };
  },
};
