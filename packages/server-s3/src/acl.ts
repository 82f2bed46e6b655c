import { aclHeaders, checkOwnership, refuseAcl } from "./acl-headers.ts";
import { readText, type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { versionReply } from "./object-operations.ts";
import { childText, escapeXml, readXml, type XmlElement, xmlDocument } from "./xml.ts";
import { documents, readDocument } from "./xml-documents.ts";

const permissions = ["FULL_CONTROL", "READ", "READ_ACP", "WRITE", "WRITE_ACP"];

export async function getBucketAcl(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  return xmlReply(ownerAcl(call.tenant));
}

export async function getObjectAcl(call: S3Call): Promise<S3Reply> {
  const version = await aclVersion(call);
  const reply = xmlReply(ownerAcl(call.tenant));
  return { ...reply, headers: { ...reply.headers, ...version } };
}

export async function putBucketAcl(call: S3Call): Promise<S3Reply> {
  await requireOwnerAcl(call);
  await call.objects.openBucket(call.tenant, call.bucket);
  return { status: 200 };
}

export async function putObjectAcl(call: S3Call): Promise<S3Reply> {
  await requireOwnerAcl(call);
  return { status: 200, headers: await aclVersion(call) };
}

async function aclVersion({ objects, tenant, bucket, key, query }: S3Call): Promise<Readonly<Record<string, string>>> {
  const { version_id } = await objects.headObject(tenant, bucket, key, query.get("versionId"));
  return versionReply({ version_id });
}

/** The one ACL there is: the owner, and nobody else. */
function ownerAcl(owner: string): string {
  const who = { ID: owner, DisplayName: owner };
  const grantee = `<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>${escapeXml(owner)}</ID><DisplayName>${escapeXml(owner)}</DisplayName></Grantee>`;
  return xmlDocument("AccessControlPolicy", {
    Owner: who,
    AccessControlList: { Grant: { Grantee: "", Permission: "FULL_CONTROL" } },
  }).replace("<Grantee></Grantee>", () => grantee);
}

/** Throws unless headers or document ask for the one ACL there is. */
async function requireOwnerAcl(call: S3Call): Promise<void> {
  const inHeaders = aclHeaders.some((name) => call.headers[name] !== undefined);
  refuseAcl(call.headers, call.tenant);
  const text = await readText(call, call.body(), 64 * 1024, "MalformedACLError");
  if (text.trim() === "") {
    if (inHeaders) return;
    throw s3Error("MissingSecurityHeader", "Your request was missing a required header", {
      elements: { MissingHeaderName: "x-amz-acl" },
    });
  }
  if (inHeaders) throw s3Error("InvalidRequest", "an ACL is in the headers or in the body");
  const root = readXml(text, "AccessControlPolicy", documents.AccessControlPolicy);
  const child = ({ children }: XmlElement, name: string) => children.find((element) => element.name === name);
  const [owner, list] = [child(root, "Owner"), child(root, "AccessControlList")];
  if (owner === undefined || list === undefined) throw malformed("an AccessControlPolicy has Owner and AccessControlList");
  const grants = list.children.map((grant) => {
    const [grantee, permission] = [child(grant, "Grantee"), childText(grant, "Permission")?.trim() ?? ""];
    if (grantee === undefined || !permissions.includes(permission)) throw malformed("a Grant has Grantee and Permission");
    return permission === "FULL_CONTROL" && grantee.children.every(({ name }) => ["ID", "DisplayName"].includes(name))
      ? childText(grantee, "ID")
      : undefined;
  });
  if (childText(owner, "ID") !== call.tenant || grants.length !== 1 || grants[0] !== call.tenant)
    throw s3Error("AccessControlListNotSupported", "the ACL is not that of the owner alone");
}

function malformed(text: string) {
  return s3Error("MalformedACLError", text);
}

export async function getOwnership(call: S3Call): Promise<S3Reply> {
  await call.objects.openBucket(call.tenant, call.bucket);
  return xmlReply(xmlDocument("OwnershipControls", { Rule: { ObjectOwnership: "BucketOwnerEnforced" } }));
}

/** May be set to what it is. */
export async function putOwnership(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "OwnershipControls");
  const [rule] = root.children;
  checkOwnership(rule && childText(rule, "ObjectOwnership")?.trim(), "MalformedXML");
  await call.objects.openBucket(call.tenant, call.bucket);
  return { status: 200 };
}
