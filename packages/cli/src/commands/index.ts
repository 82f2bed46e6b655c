import type { AddCommand } from "./add-command.ts";

/** Every command, by the words that begin it, in the order that `--help` shows. What it needs is loaded where it may be meant. */
const families: readonly (readonly [words: readonly string[], load: () => Promise<AddCommand>])[] = [
  [["init"], async () => (await import("./init.ts")).addInit],
  [["bootstrap"], async () => (await import("./bootstrap.ts")).addBootstrap],
  [["serve"], async () => (await import("./serve.ts")).addServe],
  [["dev"], async () => (await import("./dev.ts")).addDev],
  [["config"], async () => (await import("./config.ts")).addConfig],
  [["doctor"], async () => (await import("./doctor.ts")).addDoctor],
  [["vault"], async () => (await import("./vault.ts")).addVault],
  [["pki"], async () => (await import("./pki.ts")).addPki],
  [["migrate"], async () => (await import("./migrate.ts")).addMigrate],
  [["org"], async () => (await import("./org.ts")).addOrg],
  [["enroll"], async () => (await import("./enroll.ts")).addEnroll],
  [["ceremony"], async () => (await import("./ceremony.ts")).addCeremony],
  [["custodian"], async () => (await import("./custodian.ts")).addCustodian],
  [["message"], async () => (await import("./message.ts")).addMessage],
  [["sign"], async () => (await import("./sign.ts")).addSign],
  [["audit"], async () => (await import("./audit.ts")).addAudit],
  [["policy"], async () => (await import("./policy.ts")).addPolicy],
  [["classify"], async () => (await import("./classify.ts")).addClassify],
  [["redact", "restore"], async () => (await import("./redact.ts")).addRedact],
  [["quota"], async () => (await import("./quota.ts")).addQuota],
  [["apikey"], async () => (await import("./apikey.ts")).addApiKey],
  [["gateway", "governance", "scheduler", "storage"], async () => (await import("./service-routes.ts")).addServices],
  [[], async () => (await import("./completion.ts")).addCompletion],
];

/**
 * What adds the commands that a command line may mean: those of its first word, none for the version alone, or all, for help, completion and words
 * that are none.
 */
export async function commandsFor(argv: readonly string[]): Promise<readonly AddCommand[]> {
  if (argv[0] === "--version") return [];
  const first = argv.find((word) => !word.startsWith("-"));
  const meant = families.filter(([words]) => words.some((word) => word === first));
  return Promise.all((meant.length > 0 ? meant : families).map(([, load]) => load()));
}
