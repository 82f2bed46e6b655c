import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { createRequest, encodePem, encodePrivateKey, localSigner, newPrivateKey, requestPem } from "@seneschal/crypto/x509";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal enroll`: makes a key that never leaves this machine, and has it certified with the enrolment token. */
export const addEnroll: AddCommand = (program, { host, result }) => {
  withConnection(program.command("enroll").description("enrol an admin: make a key here and have it certified"))
    .requiredOption("--admin <id>", "the admin's id")
    .requiredOption("--out <prefix>", "writes <prefix>.pem and <prefix>-key.pem")
    .action(async (options: ConnectionOptions & { admin: string; out: string }) => {
      const token = (await host.askSecret("enrollment token: ")).trim();
      const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
      const request = await createRequest(localSigner(nodeCrypto, key), { subject: [{ type: "CN", value: options.admin }] });
      const csr = Buffer.from(requestPem(request)).toString("base64");
      const enrolled = await connect(host, options, (gateway) =>
        gateway.enrollAdmin({ params: { id: options.admin }, body: { enrollment_token: token, csr } }),
      );
      const keyFile = await writeSecret(
        host,
        `${options.out}-key.pem`,
        encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)),
      );
      const certFile = await writeSecret(host, `${options.out}.pem`, [enrolled.certificate, ...enrolled.ca_chain].join(""));
      result({ certificate: certFile, key: keyFile, serial_number: enrolled.serial_number, expiration: enrolled.expiration });
    });
};
