import { isKnownEntity, type Narrowing, type TierPolicy } from "@seneschal/governance";
import { invalid } from "./fault.ts";

/** What a request says of how much it asks for. */
interface Asked {
  readonly entities?: readonly string[] | undefined;
  readonly allow_list?: readonly string[] | undefined;
  readonly score_threshold?: number | undefined;
}

/** What a request asks for, where that is not all that a text may hold. Throws `validation_failed` for an entity that nothing finds. */
export function narrowingIn(
  { entities, allow_list, score_threshold }: Asked,
  tiers: TierPolicy,
  configured: readonly { readonly entity: string }[],
): Narrowing | undefined {
  if (entities === undefined && allow_list === undefined && score_threshold === undefined) return undefined;
  for (const [i, entity] of (entities ?? []).entries())
    if (!isKnownEntity(tiers, entity, configured))
      throw invalid(`entities[${i}]`, "expected an entity of GET /api/v1/tiers or of a recogniser");
  return {
    ...(entities === undefined ? {} : { entities }),
    ...(allow_list === undefined ? {} : { allowList: allow_list }),
    ...(score_threshold === undefined ? {} : { scoreThreshold: score_threshold }),
  };
}
