/** The builtins that stand on libraries for regular expressions, YAML, curves and GraphQL. */
export { jwtBuiltins } from "./crypto/jwt.ts";
export { x509Builtins } from "./crypto/x509.ts";
export { deprecatedBuiltins } from "./deprecated.ts";
export { graphqlBuiltins } from "./graphql.ts";
export { schemaBuiltins } from "./json-schema.ts";
export { regexBuiltins } from "./regex.ts";
export { templateBuiltins } from "./template.ts";
export { yamlBuiltins } from "./yaml.ts";
