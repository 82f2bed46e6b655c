import * as z from "zod";

const text = z.string();
const strings = z.record(z.string(), z.unknown());
const transformation = z.looseObject({
  type: text,
  subtype: text.optional(),
  description: text.optional(),
  masking: z.boolean().optional(),
});
const inputField = z.looseObject({
  namespace: text,
  name: text,
  field: text,
  transformations: z.array(transformation).optional(),
});
const lineageInput = z.looseObject({
  namespace: text,
  name: text,
  type: text.optional(),
  field: text.optional(),
  transformations: z.array(transformation).optional(),
});
const runRef = z.looseObject({ runId: text });
const jobRef = z.looseObject({ namespace: text, name: text });
const integer = z.int();
interface SchemaField {
  name: string;
  type?: string | undefined;
  fields?: SchemaField[] | undefined;
}
const schemaField: z.ZodType<SchemaField> = z.looseObject({
  name: text,
  type: text.optional(),
  description: text.optional(),
  get fields() {
    return z.array(schemaField).optional();
  },
});

/** `columnLineage` facet 1-2-0. */
export const columnLineageFacet = z.looseObject({
  fields: z.record(
    z.string(),
    z.looseObject({
      inputFields: z.array(inputField),
      transformationType: text.optional(),
      transformationDescription: text.optional(),
    }),
  ),
  dataset: z.array(inputField).optional(),
});

/** `lineage` facet 1-0-0 of a data set. */
export const lineageDatasetFacet = z.looseObject({
  inputs: z.array(lineageInput).optional(),
  fields: z.record(z.string(), z.looseObject({ inputs: z.array(lineageInput) })).optional(),
});

/** `lineage` facet 1-0-0 of a job. */
const lineageJobFacet = z.looseObject({
  entries: z.array(
    z.looseObject({
      namespace: text,
      name: text,
      type: text.optional(),
      inputs: z.array(lineageInput).optional(),
      fields: strings.optional(),
    }),
  ),
});

export const schemaFacet = z.looseObject({ fields: z.array(schemaField).optional() });
export const symlinksFacet = z.looseObject({
  identifiers: z.array(z.looseObject({ namespace: text, name: text, type: text })).optional(),
});
export const ownershipFacet = z.looseObject({ owners: z.array(z.looseObject({ name: text, type: text.optional() })).optional() });
export const tagsFacet = z.looseObject({
  tags: z.array(z.looseObject({ key: text, value: text, source: text.optional(), field: text.optional() })).optional(),
});
export const lifecycleFacet = z.looseObject({
  lifecycleStateChange: z.enum(["ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"]),
  previousIdentifier: z.looseObject({ namespace: text, name: text }).optional(),
});
export const sqlFacet = z.looseObject({ query: text, dialect: text.optional() });
const metrics = z.looseObject({
  rowCount: integer.optional(),
  bytes: integer.optional(),
  fileCount: integer.optional(),
  columnMetrics: strings,
});
const statistics = z.looseObject({ rowCount: integer.optional(), size: integer.optional(), fileCount: integer.optional() });
const documentation = z.looseObject({ description: text, contentType: text.optional() });

/** Facets of data sets whose shape the specification fixes. */
export const DATASET_FACETS: Readonly<Record<string, z.ZodType>> = {
  columnLineage: columnLineageFacet,
  lineage: lineageDatasetFacet,
  schema: schemaFacet,
  symlinks: symlinksFacet,
  ownership: ownershipFacet,
  tags: tagsFacet,
  lifecycleStateChange: lifecycleFacet,
  documentation,
  dataSource: z.looseObject({ name: text.optional(), uri: text.optional() }),
  version: z.looseObject({ datasetVersion: text }),
  datasetType: z.looseObject({ datasetType: text, subType: text.optional() }),
  storage: z.looseObject({ storageLayer: text, fileFormat: text.optional() }),
  catalog: z.looseObject({ framework: text, type: text, name: text }),
  hierarchy: z.looseObject({ hierarchy: z.array(strings) }),
  dataQualityMetrics: metrics,
  dataQualityAssertions: z.looseObject({ assertions: z.array(z.looseObject({ assertion: text, success: z.boolean() })) }),
};

/** Facets of an input or output in this run. */
export const INPUT_FACETS: Readonly<Record<string, z.ZodType>> = {
  dataQualityMetrics: metrics,
  inputStatistics: statistics,
  subset: strings,
};
export const OUTPUT_FACETS: Readonly<Record<string, z.ZodType>> = { outputStatistics: statistics, subset: strings };

/** Facets of jobs. */
export const JOB_FACETS: Readonly<Record<string, z.ZodType>> = {
  sql: sqlFacet,
  ownership: ownershipFacet,
  tags: tagsFacet,
  documentation,
  lineage: lineageJobFacet,
  jobType: z.looseObject({ processingType: text, integration: text, jobType: text.optional() }),
  sourceCode: z.looseObject({ language: text, sourceCode: text }),
  sourceCodeLocation: z.looseObject({ type: text, url: text }),
};

/** Facets of runs. */
export const RUN_FACETS: Readonly<Record<string, z.ZodType>> = {
  parent: z.looseObject({ run: runRef, job: jobRef }),
  nominalTime: z.looseObject({ nominalStartTime: text, nominalEndTime: text.optional() }),
  errorMessage: z.looseObject({ message: text, programmingLanguage: text, stackTrace: text.optional() }),
  externalQuery: z.looseObject({ externalQueryId: text, source: text }),
  extractionError: z.looseObject({ totalTasks: integer, failedTasks: integer, errors: z.array(strings) }),
  processing_engine: z.looseObject({ version: text, name: text.optional() }),
  environmentVariables: z.looseObject({ environmentVariables: z.array(z.looseObject({ name: text, value: text })) }),
  jobDependencies: z.looseObject({ upstream: z.array(strings).optional(), downstream: z.array(strings).optional() }),
  tags: tagsFacet,
  test: z.looseObject({ tests: z.array(strings) }),
};

/** Something of an event that was not usable as it was. `code` is stable, `path` names the place. */
export interface LineageWarning {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** The facets that hold their schema; the others are dropped with a warning. Facets that the specification does not know are kept unread. */
export function checkedFacets(
  facets: unknown,
  known: Readonly<Record<string, z.ZodType>>,
  path: string,
  warnings: LineageWarning[],
): Readonly<Record<string, unknown>> {
  if (facets === undefined || facets === null) return {};
  if (typeof facets !== "object" || Array.isArray(facets)) {
    warnings.push({ code: "invalid_facets", path, message: "facets must be an object" });
    return {};
  }
  const kept: Record<string, unknown> = {};
  for (const [name, facet] of Object.entries(facets)) {
    if (typeof facet === "object" && facet !== null && (facet as Record<string, unknown>)["_deleted"] === true) continue;
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    const result = (schema ?? strings).safeParse(facet);
    if (result.success) kept[name] = result.data;
    else {
      const issue = result.error.issues[0];
      warnings.push({
        code: "invalid_facet",
        path: `${path}.${name}`,
        message: `${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "invalid"}`,
      });
    }
  }
  return kept;
}
