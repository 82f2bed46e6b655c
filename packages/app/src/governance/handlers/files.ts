import { randomUUID } from "node:crypto";
import type { ServedFormat } from "@seneschal/adapters/file-threads";
import type { HandlerInput, Handlers, Route } from "@seneschal/contract";
import { FILE_MEDIA_TYPES, type FileContract } from "@seneschal/contract/governance";
import { maxTier, parseRedactionRule, policyOf, unknownInRule } from "@seneschal/governance";
import { CodedError, isCoded } from "@seneschal/kernel";
import { auditOf } from "../audit/event.ts";
import { invalid } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { ownerOf, whoOf } from "../who.ts";
import { countryOf, redactionRecord, restorationRecord, ruleOf } from "./redaction.ts";

export const fileHandlers: Handlers<FileContract, GovernanceServices> = {
  async classifyFile({ files, store }, input) {
    const { about = "" } = input.query;
    const found = await refusing(files.classify({ work: "classify", ...fileOf(input), about }, ownerOf(input)));
    const { tier, tags, records, columns, pages, parts, entities, unread } = found;
    await store.commit({
      commitId: randomUUID(),
      audit: [
        auditOf(whoOf(input), { operation: "CLASSIFY", resource: formatOf(input), tier, tags, reasoning: `a file of ${tier}` }),
      ],
    });
    return {
      tier,
      tags: [...tags],
      ...(records === undefined ? {} : { records }),
      ...(columns === undefined
        ? {}
        : { columns: columns.map((column) => ({ ...column, tags: [...column.tags], reasons: [...column.reasons] })) }),
      ...(pages === undefined ? {} : { pages }),
      ...(parts === undefined ? {} : { parts: parts.map((part) => ({ ...part, tags: [...part.tags] })) }),
      ...(entities === undefined ? {} : { entities: { ...entities } }),
      ...(unread === undefined ? {} : { unread: [...unread] }),
    };
  },

  async redactFile({ files, store, tiers, config, redactionKey }, input) {
    const { rule = [], country, about } = input.query;
    const asked = rule.map((text, i) => {
      const read = parseRedactionRule(text, tiers) ?? refuse(i, "expected ENTITY=OPERATOR, TIER=OPERATOR or *=OPERATOR");
      const unknown = unknownInRule(read, tiers, config.classification.recognisers);
      return unknown === undefined ? read : refuse(i, "expected a tier or an entity of GET /api/v1/tiers or of a recogniser");
    });
    const file = fileOf(input);
    const { bytes, counts } = await refusing(
      files.redact(
        {
          work: "redact",
          ...file,
          // What the deployment rules comes first, as for texts.
          rules: [...config.redaction.rules.map(ruleOf), ...asked],
          key: await redactionKey(input.principal.org),
          ...countryOf(country),
          ...(about === undefined ? {} : { about }),
        },
        ownerOf(input),
      ),
    );
    const entities = [...counts.keys()].sort();
    const tier = entities.reduce(
      (highest, entity) => maxTier(tiers, highest, policyOf(tiers, entity).tier),
      tiers.tiers[0] ?? "",
    );
    const count = [...counts.values()].reduce((sum, one) => sum + one, 0);
    await store.commit({
      commitId: randomUUID(),
      audit: [redactionRecord(whoOf(input), tiers, { resource: file.format, tier, entities, count })],
    });
    const told = entities.map((entity) => `${entity}=${counts.get(entity)}`).join(", ");
    return { mediaType: FILE_MEDIA_TYPES[file.format], headers: told === "" ? {} : { "x-redactions": told }, body: bytes };
  },

  async restoreFile({ files, store, tiers, redactionKey }, input) {
    const key = await redactionKey(input.principal.org);
    const file = fileOf(input);
    const { bytes, count } = await refusing(files.restore({ work: "restore", ...file, key }, ownerOf(input)));
    // Recorded before anybody sees it.
    await store.commit({
      commitId: randomUUID(),
      audit: [restorationRecord(whoOf(input), tiers, { resource: file.format, count })],
    });
    return { mediaType: FILE_MEDIA_TYPES[file.format], headers: { "x-restored": `${count}` }, body: bytes };
  },
};

type Asked = Pick<HandlerInput<Route>, "request">;

/** By the media type, which the dispatcher has looked at. */
function formatOf({ request }: Asked): ServedFormat {
  const media = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  const [format] = Object.entries(FILE_MEDIA_TYPES).find(([, type]) => type === media) ?? [];
  if (format === undefined) throw new CodedError("unsupported_media_type", "expected the media type of a file");
  return format as ServedFormat;
}

function fileOf(input: Asked): { readonly bytes: Uint8Array; readonly format: ServedFormat } {
  // Copied: what a thread is sent takes the memory around it along.
  return { bytes: new Uint8Array(input.request.rawBody), format: formatOf(input) };
}

/** What is wrong with a file is wrong with the request. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isCoded(error, "file_mismatch")) throw invalid("headers.content-type", error.message);
    if (isCoded(error, "file_invalid", "validation_failed")) throw invalid("body", error.message);
    if (isCoded(error, "back_end_missing")) throw new CodedError("service_unavailable", error.message);
    throw error;
  }
}

function refuse(i: number, reason: string): never {
  throw invalid(`rule[${i}]`, reason);
}
