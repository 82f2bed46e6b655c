/** Functions that fold many rows into one value. */
export const AGGREGATES: ReadonlySet<string> = new Set(
  `count sum avg min max median mode stddev stddev_pop stddev_samp variance var_pop var_samp any_value approx_count_distinct approx_distinct
   array_agg string_agg group_concat listagg collect_list collect_set json_agg jsonb_agg bool_and bool_or every corr covar_pop covar_samp
   percentile percentile_cont percentile_disc percentile_approx approx_percentile first last hll_count countif sumif count_if
   first_value last_value nth_value ntile bit_and bit_or bit_xor histogram_numeric`.split(/\s+/),
);

/** Aggregates whose result shows the values themselves, not a figure about them. */
export const REVEALING_AGGREGATES: ReadonlySet<string> = new Set(
  "min max any_value mode array_agg string_agg group_concat listagg collect_list collect_set json_agg jsonb_agg first last first_value last_value nth_value".split(
    " ",
  ),
);

/** Functions behind which the original value cannot be read. */
export const MASKING: ReadonlySet<string> = new Set(
  `md5 md5_hex md5_digest sha sha1 sha1_hex sha2 sha2_hex sha224 sha256 sha384 sha512 hash hashbytes farm_fingerprint fingerprint xxhash64 murmur_hash crc32
   mask mask_hash mask_first_n mask_last_n mask_show_first_n mask_show_last_n redact tokenize tokenise pseudonymize pseudonymise anonymize
   anonymise encrypt aes_encrypt hmac hmac_sha256 digest crypt one_way_hash siphash64 cityhash64 standard_hash`.split(/\s+/),
);

/** Functions that take members out of a structure by names or paths in their arguments, whatever they are called in a dialect. */
export const MEMBER_ACCESS =
  /json|bson|xml|xpath|variant|hstore|struct|visitparam|^(?:object|map|element|tuple|dict|array)_?(?:get|at|extract|element|pick|filter)|^get(?:_path)?$|^extractvalue$|^from_(?:avro|protobuf)$/;

/** Characters that may be shown of a value that counts as masked, as the last four digits of a card. */
const SHOWN = 4;

/** True for `left`, `right` and `substring` of so few characters that the value cannot be read from them. `args` are nodes of the tree. */
export function showsLittle(name: string, args: readonly unknown[]): boolean {
  const length = name === "left" || name === "right" ? args[1] : /^substr(?:ing)?$/.test(name) ? args[2] : undefined;
  const digits = /^\{(?:"\w+":\{)*"Number":\["(\d{1,9})"/.exec(JSON.stringify(length) ?? "")?.[1];
  return digits !== undefined && Number(digits) <= SHOWN;
}
