import { readText } from "@seneschal/adapters/files";
import { type ModelUpstream, openModelUpstream } from "@seneschal/adapters/models";
import { type TierPolicy, unclassifiedTier } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { GovernanceConfig } from "../settings.ts";

/** Language models behind this service. */
export interface ModelSettings {
  readonly upstream: ModelUpstream;
  /** The highest tier that they are told. */
  readonly accepts: string;
  /** Those that may be used; empty: all. */
  readonly names: readonly string[];
  readonly maxReply: number;
  readonly holdBack: number;
}

/** `undefined` where none is configured. Throws `config_invalid` for a tier that is not in the scale and a key that cannot be read. */
export async function openModels({ models }: GovernanceConfig, tiers: TierPolicy): Promise<ModelSettings | undefined> {
  if (models === undefined) return undefined;
  const { upstream, api_key, api_key_file, ca_file, timeout, accepts_tier, names, max_reply_bytes, hold_back } = models;
  const accepts = accepts_tier ?? unclassifiedTier(tiers);
  if (!tiers.tiers.includes(accepts))
    throw new CodedError("config_invalid", `models.accepts_tier: ${accepts} is not one of the tiers`);
  const url = new URL(upstream);
  const local = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local))
    throw new CodedError("config_invalid", "models.upstream: expected https, or http to this machine");
  const key = api_key ?? (api_key_file === undefined ? undefined : (await text("api_key_file", api_key_file)).trim());
  const ca = ca_file === undefined ? undefined : await text("ca_file", ca_file);
  return {
    upstream: openModelUpstream({
      url: upstream,
      timeout,
      ...(key === undefined ? {} : { apiKey: key }),
      ...(ca === undefined ? {} : { ca }),
    }),
    accepts,
    names,
    maxReply: max_reply_bytes,
    holdBack: hold_back,
  };
}

async function text(setting: string, path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new CodedError("config_invalid", `models.${setting}: cannot be read`, {}, error);
  }
}
