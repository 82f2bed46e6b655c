import { BuiltinError } from "../errors.ts";
import { termText } from "../value/format.ts";
import { getKey, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";

const PARAMETERS: ReadonlySet<Value> = new Set(
  (
    "method url body enable_redirect force_json_decode force_yaml_decode headers raw_body tls_use_system_certs " +
    "tls_ca_cert tls_ca_cert_file tls_ca_cert_env_variable tls_client_cert tls_client_cert_file " +
    "tls_client_cert_env_variable tls_client_key tls_client_key_file tls_client_key_env_variable " +
    "tls_insecure_skip_verify tls_server_name timeout cache force_cache force_cache_duration_seconds raise_error " +
    "caching_mode max_retry_attempts cache_ignored_headers"
  ).split(" "),
);

/** Refuses a request object with unknown members or without method and URL, as OPA does for its first operand. */
export function checkRequest(request: Value): void {
  const keys = isObject(request) ? sortedKeys(request) : [];
  const unknown = keys.filter((key) => !PARAMETERS.has(key));
  if (unknown.length > 0) refuse("invalid", unknown);
  const missing = ["method", "url"].filter((key) => !isObject(request) || getKey(request, key) === undefined);
  if (missing.length > 0) refuse("missing required", missing);
}

function refuse(what: string, names: readonly Value[]): never {
  throw new BuiltinError(`operand 1 ${what} request parameters(s): ${termText(RegoSet.of(names))}`, "eval_type_error");
}
