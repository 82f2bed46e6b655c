import { exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal audit verify`: ends with 1 when the log is not whole. */
export const addAudit: AddCommand = (program, { host, result, exit }) => {
  const audit = program.command("audit").description("the audit log of the caller's organisation");
  withConnection(audit.command("verify").description("prove that no event was edited, removed, reordered or cut off"))
    .option("--since <time>", "RFC 3339")
    .option("--until <time>", "RFC 3339")
    .action(async (options: ConnectionOptions & { since?: string; until?: string }) => {
      const { since, until } = options;
      const range = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
      const verdict = await connect(host, options, (gateway) => gateway.verifyAudit({ body: range }));
      result(verdict, verdict.valid ? "the log is whole" : "THE LOG IS NOT WHOLE");
      if (!verdict.valid) exit(exitCode.no);
    });
  withConnection(audit.command("list").description("newest events"))
    .option("--limit <n>", "how many", "20")
    .option("--type <event_type>", "only this kind")
    .action(async (options: ConnectionOptions & { limit: string; type?: string }) => {
      const { limit, type } = options;
      const query = { limit, ...(type === undefined ? {} : { event_type: type }) };
      const { events } = await connect(host, options, (gateway) => gateway.listAudit({ query }));
      result(
        { events },
        events
          .map(
            (event) =>
              `${event.timestamp} ${event.event_type.padEnd(28)} ${event.result.padEnd(8)} ${event.actor} ${event.workspace}`,
          )
          .join("\n") || "(none)",
      );
    });
};
