import type { ColumnInput } from "../types.ts";

export function transformed(input: ColumnInput): ColumnInput {
  return input.type === "DIRECT" && input.subtype === "IDENTITY" ? { ...input, subtype: "TRANSFORMATION" } : input;
}

/** Inputs of which only a member of a structure is used; as they are where there is no name for it. */
export function memberOf(inputs: readonly ColumnInput[], member: string | undefined): ColumnInput[] {
  return inputs.map((input) => {
    const used = transformed(input);
    if (member === undefined || input.type === "INDIRECT") return used;
    return { ...used, member: used.member === undefined ? member : `${used.member}.${member}` };
  });
}

export function applied(input: ColumnInput, aggregate: boolean, masking: boolean, revealing: boolean): ColumnInput {
  if (input.type === "INDIRECT") return input;
  if (aggregate && revealing && (input.subtype !== "AGGREGATION" || input.revealing === true)) {
    return { ...input, subtype: "AGGREGATION", masking: input.masking || masking, revealing: true };
  }
  const subtype = aggregate ? "AGGREGATION" : input.subtype === "IDENTITY" ? "TRANSFORMATION" : input.subtype;
  return { ...input, subtype, masking: input.masking || masking };
}

export function indirect(inputs: readonly ColumnInput[], subtype: ColumnInput["subtype"]): ColumnInput[] {
  return inputs.map(({ table, field, masking, member }) => ({
    table,
    field,
    type: "INDIRECT",
    subtype,
    masking,
    ...(member === undefined ? {} : { member }),
  }));
}

/** Each input once; the same column may take part in several ways. */
export function unique(inputs: readonly ColumnInput[]): ColumnInput[] {
  const seen = new Map<string, ColumnInput>();
  for (const input of inputs)
    seen.set(`${input.table}\0${input.field.toLowerCase()}\0${input.member ?? ""}\0${input.subtype}\0${input.masking}`, input);
  return [...seen.values()];
}
