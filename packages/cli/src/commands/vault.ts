import {
  type Dealt,
  initVaultByBackup,
  initVaultShares,
  rekeyServiceVault,
  type VaultService,
  vaultServices,
  verifyVaultRekey,
} from "@seneschal/app";
import { type Client, client, type SealStatus, sealContract } from "@seneschal/contract";
import { type Command, Option } from "commander";
import { askShare, bringShares } from "../custody/bring-shares.ts";
import { exitCode } from "../exit-code.ts";
import { reach } from "../reach.ts";
import { readConfig } from "../read-config.ts";
import { readText } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

interface Local {
  readonly config?: string;
  readonly set?: string[];
  readonly service: VaultService;
  readonly shares: number;
  readonly threshold: number;
}

interface Remote {
  readonly url: string;
  readonly ca?: string;
}

/** `seneschal vault ...`: the seal of an embedded vault, in the hands of its operators. */
export const addVault: AddCommand = (program, { host, result, exit }) => {
  const vault = program.command("vault").description("the seal of an embedded vault: shares, unseal, seal, rekey");
  const local = (command: Command): Command =>
    command
      .addOption(new Option("--service <name>", "whose vault").choices([...vaultServices]).default("gateway"))
      .option("-c, --config <file>", "YAML or JSON file")
      .option("--set <path=value...>", "a setting by its path");
  const dealing = (command: Command): Command =>
    command
      .option("--shares <n>", "into which the unseal key is dealt, one for each operator", wholeNumber, 5)
      .option("--threshold <n>", "how many of them unseal together", wholeNumber, 3);
  const remote = (command: Command): Command =>
    command
      .requiredOption("--url <url>", "the service, for example https://localhost:8443")
      .option("--ca <file>", "whom to trust, PEM");
  const ask = <R>(target: Remote, use: (seal: Client<typeof sealContract>) => Promise<R>): Promise<R> =>
    reach(host, target, (options) => use(client(sealContract, options)));

  dealing(local(vault.command("init").description("deal the unseal key of a new vault in shares, shown once and kept nowhere")))
    .option("--backup <file>", "of a lost machine (of storage its manifest.json): the shares of that machine are this one's")
    .action(async (options: Local & { backup?: string }) => {
      const config = await readConfig(host, options);
      const { service, backup } = options;
      if (backup === undefined) return tell(await initVaultShares(config, service, options), "the first start asks for them");
      const { shares, threshold } = await initVaultByBackup(config, service, await readText(host, backup));
      result({ shares, threshold }, `${threshold} of the ${shares} shares of the machine that made the backup unseal this one`);
    });

  remote(vault.command("status").description("how a service's vault is sealed; ends with 1 while it is")).action(
    async (options: Remote) => {
      const status = await ask(options, (seal) => seal.sealStatus());
      result(status);
      if (status.sealed) exit(exitCode.no);
    },
  );

  remote(vault.command("unseal").description("give one unseal key share to a sealed service; each operator does so")).action(
    async (options: Remote) => {
      const status = await ask(options, async (seal) => {
        const { sealed, progress, t, nonce, ...rest } = await seal.sealStatus();
        if (!sealed) return { sealed, progress, t, nonce, ...rest };
        const key = await askShare(host, `(${progress} of ${t} came${nonce === "" ? "" : `, attempt ${nonce}`})`);
        return seal.unseal({ body: { key, ...(nonce === "" ? {} : { nonce }) } });
      });
      result(status, progressOf(status));
    },
  );

  remote(vault.command("seal").description("seal a running service; any one operator may, with the share")).action(
    async (options: Remote) => {
      const key = await askShare(host, "that shows you to be an operator");
      const status = await ask(options, (seal) => seal.seal({ body: { key } }));
      result(status, progressOf(status));
      if (!status.sealed) exit(exitCode.no);
    },
  );

  dealing(local(vault.command("rekey").description("give a vault a new unseal key, of this or another kind of seal")))
    .option("--to <file>", "the configuration that is to hold from then on; default: the same seal, dealt anew")
    .option("--verify", "show the shares that a rekey dealt: from then on those of before open nothing")
    .action(async (options: Local & { to?: string; verify?: boolean }) => {
      const config = await readConfig(host, options);
      const { service, to, shares, threshold } = options;
      if (options.verify === true) {
        await verifyVaultRekey(config, service, bringShares(host));
        return result({ in_force: true }, "the new shares are in force, those of before open nothing");
      }
      const next = to === undefined ? config : await readConfig(host, { ...options, config: to });
      const dealt = await rekeyServiceVault(config, service, next, { shares, threshold, bring: bringShares(host) });
      tell(dealt, dealt.in_force ? "" : "those of before hold until seneschal vault rekey --verify was shown enough of these");
    });

  function tell(dealt: Dealt, next: string): void {
    const lines = dealt.shares.map((share, index) => `share ${index + 1}  ${share}`);
    const once = ["", "They are shown this once and kept nowhere: give each to its operator.", next];
    result(
      dealt,
      lines.length === 0 ? "the new unseal key is in force, the one of before opens nothing" : [...lines, ...once].join("\n"),
    );
  }
};

function progressOf({ sealed, progress, t, nonce }: SealStatus): string {
  if (!sealed) return "unsealed";
  return nonce === "" ? "sealed" : `sealed: ${progress} of ${t} shares came, attempt ${nonce}`;
}
