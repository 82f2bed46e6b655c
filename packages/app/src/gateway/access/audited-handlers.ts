import type { Contract, Handlers, Principal } from "@seneschal/contract";
import { gatewayErrors } from "@seneschal/contract/gateway";
import type { KeysError } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { recordRefusal } from "../ground/index.ts";
import type { GatewayServices } from "../services.ts";

type AnyHandler = (
  services: GatewayServices,
  input: {
    readonly params: { readonly id?: string } | undefined;
    readonly principal: Principal | undefined;
    readonly now: number;
    readonly requestId: string;
  },
) => unknown;

/** The same handlers; what they refuse (403) to a known caller is audited before it is answered. */
export function auditedHandlers<C extends Contract>(handlers: Handlers<C, GatewayServices>): Handlers<C, GatewayServices> {
  const wrapped = Object.entries(handlers).map(([id, handler]) => {
    const audited: AnyHandler = async (services, input) => {
      try {
        return await (handler as AnyHandler)(services, input);
      } catch (error) {
        const { principal, now, requestId, params } = input;
        const refused = isCoded(error) && gatewayErrors.find(error.code)?.status === 403;
        if (refused && principal !== undefined) {
          await recordRefusal(
            services,
            { principal, now, requestId },
            id,
            error as KeysError,
            error.code === "POLICY_VIOLATION" ? params?.id : undefined,
          );
        }
        throw error;
      }
    };
    return [id, audited];
  });
  return Object.fromEntries(wrapped) as Handlers<C, GatewayServices>;
}
