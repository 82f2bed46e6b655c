import { type S3Code, s3Error } from "./errors.ts";

/*
 * Object Ownership is BucketOwnerEnforced in every bucket: ACLs are disabled, and who may is said by policies. As Amazon S3 has it, the one ACL
 * that there is can be read, a request may ask for that one, and every other is refused before anything is done.
 */

type Headers = Readonly<Record<string, string | undefined>>;

const grantHeaders = ["full-control", "read", "read-acp", "write", "write-acp"].map((name) => `x-amz-grant-${name}`);
/** The headers by which a request asks for an ACL. */
export const aclHeaders: readonly string[] = ["x-amz-acl", ...grantHeaders];

/** Canned ACLs; of those the first two give the owner all there is to give, and nobody else anything. */
const canned = [
  ...["private", "bucket-owner-full-control", "bucket-owner-read", "public-read", "public-read-write"],
  ...["authenticated-read", "aws-exec-read", "log-delivery-write"],
];

/** Throws `AccessControlListNotSupported`, or what is said of a new bucket, for headers that ask for another ACL than there is. */
export function refuseAcl(headers: Headers, owner: string, code: S3Code = "AccessControlListNotSupported"): void {
  const acl = headers["x-amz-acl"];
  const grants = grantHeaders.filter((name) => headers[name] !== undefined);
  if (acl !== undefined && grants.length > 0)
    throw s3Error("InvalidRequest", "Specifying both Canned ACLs and Header Grants is not allowed");
  if (acl !== undefined && !canned.includes(acl))
    throw s3Error("InvalidArgument", "this is no canned ACL", {
      elements: { ArgumentName: "x-amz-acl", ArgumentValue: acl },
    });
  if (acl !== undefined && canned.indexOf(acl) > 1) throw s3Error(code, `the ACL ${acl} opens more than the owner has`);
  for (const name of grants) {
    const grantees = (headers[name] ?? "").split(",").map((grantee) => /^\s*(\w+)\s*=\s*"?([^"]*)"?\s*$/.exec(grantee));
    if (grantees.some((grantee) => grantee === null || !["id", "uri", "emailaddress"].includes((grantee[1] ?? "").toLowerCase())))
      throw s3Error("InvalidArgument", "a grantee is an id, a uri or an emailAddress", {
        elements: { ArgumentName: name, ArgumentValue: headers[name] ?? "" },
      });
    const own = grantees.every((grantee) => grantee?.[1]?.toLowerCase() === "id" && grantee[2] === owner);
    if (name !== "x-amz-grant-full-control" || !own) throw s3Error(code, `${name} grants to others than the owner`);
  }
}

const ownerships = ["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"];

/** Throws `NotImplemented` for an ownership under which ACLs would be in force, `code` for what is none. */
export function checkOwnership(ownership: string | undefined, code: S3Code): void {
  if (ownership === undefined || !ownerships.includes(ownership))
    throw s3Error(code, `${ownership} is no Object Ownership`, { wire: `Invalid x-amz-object-ownership header: ${ownership}` });
  if (ownership !== ownerships[0])
    throw s3Error("NotImplemented", `Object Ownership ${ownership} is not implemented here: it is BucketOwnerEnforced`);
}
