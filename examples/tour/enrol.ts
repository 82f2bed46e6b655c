import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { createRequest, encodePem, encodePrivateKey, localSigner, newPrivateKey, requestPem } from "@seneschal/crypto/x509";
import { type Caller, caller } from "./caller.ts";

/** Makes a key that never leaves this side, has it certified with the one-time token, and answers the caller over mTLS. */
export async function enrol(
  anybody: Caller,
  base: string,
  ca: string,
  admin: { readonly id: string; readonly email: string; readonly enrollment_token: string },
): Promise<Caller> {
  const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
  const request = await createRequest(localSigner(nodeCrypto, key), { subject: [{ type: "CN", value: admin.email }] });
  const { body } = await anybody.call("POST", `/api/v1/enrollment/admins/${admin.id}`, {
    enrollment_token: admin.enrollment_token,
    csr: Buffer.from(requestPem(request)).toString("base64"),
  });
  return caller(base, {
    ca,
    cert: [body.certificate, ...body.ca_chain].join(""),
    key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)),
  });
}
