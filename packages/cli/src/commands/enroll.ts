import { rm, writeFile } from "node:fs/promises";
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
      // The token works once: that both files can be written is known before it is spent.
      const made: string[] = [];
      try {
        const write = async (name: string, text: string): Promise<string> => {
          const path = await writeSecret(host, name, text);
          made.push(path);
          return path;
        };
        const certificate = await write(`${options.out}.pem`, "");
        const keyPem = encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key));
        const files = { certificate, key: await write(`${options.out}-key.pem`, keyPem) };
        const enrolled = await connect(host, options, (gateway) =>
          gateway.enrollAdmin({ params: { id: options.admin }, body: { enrollment_token: token, csr } }),
        );
        await writeFile(certificate, [enrolled.certificate, ...enrolled.ca_chain].join(""));
        result({ ...files, serial_number: enrolled.serial_number, expiration: enrolled.expiration });
      } catch (error) {
        for (const path of made) await rm(path);
        throw error;
      }
    });
};
