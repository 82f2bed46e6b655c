import * as z from "zod";

/** What of an audit log is in the archive of the instance, and not among what this route reads. */
export const archivedPart = z
  .object({
    through: z.int().meta({ description: "events up to this sequence, counted from 1, are in the archive" }),
    until: z.string().meta({ format: "date-time", description: "the time of that event" }),
  })
  .meta({ id: "AuditArchived" });
