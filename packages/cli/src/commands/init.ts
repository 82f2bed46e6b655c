import { resolve } from "node:path";
import { systemRandom } from "@seneschal/adapters/system";
import { prepareData } from "@seneschal/app";
import type { AddCommand } from "./add-command.ts";

/** `seneschal init`: what must exist before the first start. */
export const addInit: AddCommand = (program, { host, result }) => {
  program
    .command("init")
    .description("make the data directory and the key that unseals its vault; back that key up elsewhere")
    .option("--data <dir>", "directory", "./data")
    .action(async ({ data }: { data: string }) => {
      const { unsealKey, instanceId, made } = await prepareData(resolve(host.cwd, data), systemRandom);
      const instance = instanceId === undefined ? "" : `\ninstance ${instanceId}`;
      result(
        { unseal_key: unsealKey, instance_id: instanceId ?? null, made },
        `${made ? `made ${unsealKey}: keep a copy elsewhere` : `${unsealKey} is there already`}${instance}`,
      );
    });
};
