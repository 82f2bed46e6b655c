import { systemClock } from "@seneschal/adapters/system";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import {
  acceptCrossSigned,
  type CrossSigned,
  type InstanceAuthority,
  instanceAuthorities,
  requestCrossSigning,
} from "../gateway/index.ts";
import { operateGateway } from "./operate-gateway.ts";
import type { OperateOptions } from "./operator-platform.ts";
import type { ProcessConfig } from "./process-settings.ts";

/**
 * What a CA of somebody else is asked to sign so that an authority of the instance comes below it: PKCS#10, PEM. An embedded store has one opener: stop
 * the gateway first (`store_locked`).
 */
export async function requestAuthorityCertificate(
  config: ProcessConfig,
  authority: InstanceAuthority,
  options: OperateOptions,
): Promise<string> {
  judge(config, authority, options);
  return operateGateway(config, options, (services) => requestCrossSigning(services, authority, systemClock.now()));
}

/**
 * Takes what the other CA signed, PEM, with those above it up to its root: it is presented from then on behind what the authority signs. Throws
 * `ca_chain_refused` (`details.reason`) for a chain below which that would not be valid.
 */
export async function setSignedAuthority(
  config: ProcessConfig,
  authority: InstanceAuthority,
  chain: string,
  options: OperateOptions,
): Promise<CrossSigned> {
  judge(config, authority, options);
  checkArgument("chain", chain, "string");
  return operateGateway(config, options, (services) => acceptCrossSigned(services, { authority, chain, now: systemClock.now() }));
}

function judge(config: ProcessConfig, authority: InstanceAuthority, options: OperateOptions): void {
  checkOptions("options", options, { log: "object", version: "string", operators: "function?" });
  checkArgument("config", config, "object");
  if (!Object.hasOwn(instanceAuthorities, authority)) throw new CodedError("usage", "an authority is servers or clients");
}
