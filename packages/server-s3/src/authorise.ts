import { readFile } from "node:fs/promises";
import { type KeyAccess, keyMay, type ObjectStore, type S3ServerOptions } from "@seneschal/core/storage";
import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import { type CompiledPolicy, checkDecided, type PolicyEngine } from "@seneschal/kernel/ports";
import { ownerActions } from "./actions.ts";
import { isPublic, readPolicy, type Statement } from "./bucket-policy.ts";
import type { Reach, Wanted } from "./call.ts";
import { s3Error } from "./errors.ts";
import type { Operation } from "./operations.ts";
import { tagsOfHeader } from "./tagging.ts";

/** Decides what the policies of buckets say. */
export interface BucketPolicies {
  decide(question: JsonObject, now: number): Promise<"allow" | "deny" | "none">;
}

const decision = Object.freeze(["data", "storage", "bucket_policy", "decision"]);

/** Opens `policies/bucket-policy.rego`. A question that fails is a denial; one whose budget or time was over throws `service_unavailable`. */
export async function openBucketPolicies(engine: PolicyEngine): Promise<BucketPolicies> {
  const name = "policies/bucket-policy.rego";
  const source = await readFile(new URL(`../${name}`, import.meta.url), "utf8");
  const result = await engine.compile([{ name, source }]);
  if (!result.ok) throw new CodedError("config_invalid", `${name} does not compile`, { problems: result.problems });
  const policy: CompiledPolicy = result.policy;
  return {
    async decide(question, now) {
      const answer = await policy.evaluate(decision, question, { now, data: {} });
      checkDecided(answer);
      if (answer.kind !== "defined" || (answer.value !== "allow" && answer.value !== "none")) return "deny";
      return answer.value;
    },
  };
}

/** Who asks for what. */
export interface Asking {
  /** The caller's tenant; empty: nobody. */
  readonly caller: string;
  /** A service that acts for a bucket, where it is no caller: by its name, with the bucket and the account. */
  readonly service?: { readonly name: string; readonly source: string; readonly account: string };
  /** What the caller's key may; `undefined`: all that the tenant may. */
  readonly access: KeyAccess | undefined;
  readonly method: string;
  readonly operation: Pick<Operation, "name" | "on">;
  readonly bucket: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly address: string;
  readonly secure: boolean;
  readonly now: number;
}

/**
 * Who may do what: of what the access key is for, the tenant whose bucket it is, unless a policy of the bucket denies it; others, and nobody in particular, what a policy
 * of the bucket allows; and of all that what the authorisation policy of the service lets through.
 */
export function authoriseS3(
  {
    objects,
    policies,
    authorise,
  }: {
    readonly objects: ObjectStore;
    readonly policies: BucketPolicies;
    readonly authorise: S3ServerOptions["authorise"];
  },
  asking: Asking,
): Reach {
  const { caller, access, now, service } = asking;
  return async (wanted) => {
    const { bucket: name, key, actions } = wanted;
    const prefix = wanted.prefix ?? asking.query.get("prefix") ?? "";
    if (access !== undefined && !actions.every((action) => keyMay(access, { action, bucket: name, key, prefix })))
      throw denied("the access key is not for this");
    const bucket = name === "" || actions.includes("s3:CreateBucket") ? undefined : await objects.findBucket(name);
    // Of a bucket that is not there the operation tells; nobody gets to one.
    const owner = bucket?.tenant ?? caller;
    let allowed = caller !== "" && owner === caller;
    if (bucket?.policy !== undefined) {
      const statements = storedPolicy(bucket.policy, name);
      const restricted =
        bucket.public_access_block?.["RestrictPublicBuckets"] === true && statements !== undefined && isPublic(statements);
      let all = true;
      for (const action of actions) {
        const resource = `arn:aws:s3:::${name}${key === "" ? "" : `/${key}`}`;
        const verdict =
          statements === undefined
            ? "deny"
            : await policies.decide(
                {
                  statements,
                  account: caller,
                  service: service?.name ?? "",
                  action,
                  resource,
                  context: await contextOf(objects, asking, statements, wanted),
                },
                now,
              );
        // The owner can always mend a policy that shuts it out.
        if (verdict === "deny" && !(allowed && action.endsWith("BucketPolicy"))) throw denied("a policy of the bucket denies it");
        all &&= verdict === "allow";
      }
      // A bucket that is closed to the public is not to services.
      allowed ||= all && (!restricted || service !== undefined);
    }
    if (!allowed) throw denied(caller === "" ? "nobody may do this without a credential" : "the bucket is another tenant's");
    if (owner !== caller && service === undefined && actions.some((action) => ownerActions.has(action)))
      throw s3Error("MethodNotAllowed", "the bucket's tenant alone may do this, whatever its policy says");
    const { method, operation } = asking;
    const answer = await authorise(
      {
        // A policy of the bucket lets others act for its owner.
        caller: caller === "" ? owner : caller,
        owner,
        action: method === "GET" || method === "HEAD" ? "objects:read" : "objects:write",
        resource: key === "" ? name : `${name}/${key}`,
        method,
        operation: operation.name,
      },
      now,
    );
    if (!answer.allowed) throw denied(answer.reason);
    return owner;
  };
}

/** A policy that was taken before its form was closed may deny what it does not say: it denies everything. */
function storedPolicy(text: string, bucket: string): readonly Statement[] | undefined {
  try {
    return readPolicy(text, bucket);
  } catch (error) {
    if (isCoded(error, "MalformedPolicy") || isCoded(error, "NotImplemented")) return undefined;
    throw error;
  }
}

function denied(reason: string) {
  return s3Error("AccessDenied", reason);
}

/** What conditions may ask of a request. Tags of what is there are looked up only where a statement asks for them. */
async function contextOf(
  objects: ObjectStore,
  { caller, service, query, headers, address, secure }: Asking,
  statements: readonly Statement[],
  { bucket, key, version, prefix }: Wanted,
): Promise<JsonObject> {
  const context: Record<string, string> = {
    "aws:securetransport": String(secure),
    "aws:principalisawsservice": String(service !== undefined),
    ...(service === undefined
      ? { "aws:sourceip": address, "aws:principalaccount": caller }
      : { "aws:sourcearn": service.source, "aws:sourceaccount": service.account }),
  };
  const note = (name: string, value: string | undefined) => {
    if (value !== undefined) context[name] = value;
  };
  note("aws:referer", headers["referer"]);
  note("aws:useragent", headers["user-agent"]);
  for (const name of ["prefix", "delimiter", "max-keys"]) note(`s3:${name}`, query.get(name));
  note("s3:prefix", prefix);
  note("s3:versionid", version ?? query.get("versionId"));
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith("x-amz-object-lock-")) note(`s3:${name.slice("x-amz-".length)}`, value);
    else if (name.startsWith("x-amz-")) note(`s3:${name}`, value);
  }
  for (const tag of tagsOfHeader(headers["x-amz-tagging"]) ?? []) note(`s3:requestobjecttag/${tag.key}`, tag.value);
  const asks = statements.some(({ conditions }) => conditions.some((c) => String(c["key"]).startsWith("s3:existingobjecttag/")));
  if (asks && key !== "")
    for (const tag of (await objects.findVersion({ bucket, key, version }))?.tags ?? [])
      note(`s3:existingobjecttag/${tag.key}`, tag.value);
  return context;
}
