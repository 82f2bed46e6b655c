/** The builtins of policies compiled ahead that stand on libraries: regular expressions, YAML, keys, GraphQL. */
export * from "./builtins/on-libraries.ts";
