import { writeFile } from "node:fs/promises";
import { openLogger } from "@seneschal/adapters/logging";
import { requestAuthorityCertificate, setSignedAuthority } from "@seneschal/app";
import { Argument, type Command } from "commander";
import { bringShares } from "../custody/bring-shares.ts";
import { readConfig } from "../read-config.ts";
import { readText } from "../read-file.ts";
import { version } from "../version.ts";
import type { AddCommand } from "./add-command.ts";

interface Local {
  readonly config?: string;
  readonly set?: string[];
}

type Authority = "servers" | "clients";

/** `seneschal pki ...`: the gateway's own certificate authorities below a CA of the company. */
export const addPki: AddCommand = (program, { host, result }) => {
  const pki = program.command("pki").description("the gateway's own certificate authorities, while the gateway is stopped");
  const local = (command: Command): Command =>
    command
      .addArgument(new Argument("<authority>", "of its servers, or the root of its clients").choices(["servers", "clients"]))
      .option("-c, --config <file>", "YAML or JSON file")
      .option("--set <path=value...>", "a setting by its path");
  const operate = () => ({
    log: openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } }),
    version,
    operators: bringShares(host),
  });

  local(pki.command("cross-sign").description("make the request (PKCS#10) that another CA signs for an authority"))
    .option("--out <file>", "instead of standard output")
    .action(async (authority: Authority, options: Local & { out?: string }) => {
      const csr = await requestAuthorityCertificate(await readConfig(host, options), authority, operate());
      if (options.out === undefined) return result({ authority, csr }, csr.trimEnd());
      await writeFile(options.out, csr);
      result(
        { authority, csr: options.out },
        `${options.out}: have it signed as a CA, then seneschal pki set-signed ${authority} CHAIN`,
      );
    });

  local(pki.command("set-signed").description("present what the other CA signed behind the certificates of an authority"))
    .argument("<chain>", "PEM: the certificate that it signed, those above it, its root")
    .action(async (authority: Authority, chain: string, options: Local) => {
      const set = await setSignedAuthority(await readConfig(host, options), authority, await readText(host, chain), operate());
      const { subject, root, expires_at, unfit } = set;
      const lines = [`${subject} is below ${root} until ${expires_at}`];
      for (const { serial_number, common_name, reason } of unfit)
        lines.push(`the certificate of ${common_name} (${serial_number}) is not valid below it: ${reason.replaceAll("_", " ")}`);
      result(set, lines.join("\n"));
    });
};
