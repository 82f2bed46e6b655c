import { systemRandom } from "@seneschal/adapters/system";
import { makeUnsealKey } from "@seneschal/app";
import type { AddCommand } from "./add-command.ts";

/** `seneschal init`: what must exist before the first start. */
export const addInit: AddCommand = (program, { result }) => {
  program
    .command("init")
    .description("make the data directory and the key that unseals its vault; back that key up elsewhere")
    .option("--data <dir>", "directory", "./data")
    .action(async ({ data }: { data: string }) => {
      const { path, made } = await makeUnsealKey(data, systemRandom);
      result({ unseal_key: path, made }, made ? `made ${path}: keep a copy elsewhere` : `${path} is there already`);
    });
};
