import type { AddCommand } from "./add-command.ts";
import { addApiKey } from "./apikey.ts";
import { addAudit } from "./audit.ts";
import { addBootstrap } from "./bootstrap.ts";
import { addCeremony } from "./ceremony.ts";
import { addClassify } from "./classify.ts";
import { addCompletion } from "./completion.ts";
import { addConfig } from "./config.ts";
import { addCustodian } from "./custodian.ts";
import { addDev } from "./dev.ts";
import { addDoctor } from "./doctor.ts";
import { addEnroll } from "./enroll.ts";
import { addInit } from "./init.ts";
import { addMessage } from "./message.ts";
import { addMigrate } from "./migrate.ts";
import { addOrg } from "./org.ts";
import { addPki } from "./pki.ts";
import { addPolicy } from "./policy.ts";
import { addQuota } from "./quota.ts";
import { addRedact } from "./redact.ts";
import { addServe } from "./serve.ts";
import { addServices } from "./service-routes.ts";
import { addSign } from "./sign.ts";
import { addVault } from "./vault.ts";

/** Every command, in the order that `--help` shows. */
export const commands: readonly AddCommand[] = [
  addInit,
  addBootstrap,
  addServe,
  addDev,
  addConfig,
  addDoctor,
  addVault,
  addPki,
  addMigrate,
  addOrg,
  addEnroll,
  addCeremony,
  addCustodian,
  addMessage,
  addSign,
  addAudit,
  addPolicy,
  addClassify,
  addRedact,
  addQuota,
  addApiKey,
  addServices,
  addCompletion,
];
