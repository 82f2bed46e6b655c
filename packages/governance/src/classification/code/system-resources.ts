import { foldedName } from "../../sql/folded-name.ts";
import { highestTier, policyOf, type TierPolicy, unclassifiedTier } from "../tiers.ts";
import { mergedResource } from "./merged-resource.ts";
import type { Catalogue, KnownResource } from "./sql-evidence.ts";

/** Tables of databases that keep what people log in with. Source: the manuals of PostgreSQL, MySQL, MariaDB, SQL Server and Oracle. */
const CREDENTIALS =
  /(?:^|\.)(?:pg_(?:shadow|authid|user_mappings?|subscription|foreign_server)|mysql\.(?:user|global_priv|servers|slave_master_info)|sys\.(?:sql_logins|syslogins|user\$|link\$|linked_logins|credentials|symmetric_keys)|master\.(?:dbo)?\.?syslogins|duckdb_secrets|svv_external_credentials)$/;
/** Tables that keep samples of the values of other ones, or the values themselves. */
const SAMPLES =
  /(?:^|\.)(?:pg_stat(?:s|istic)(?:_ext(?:_data|_exprs)?)?|pg_largeobject|(?:all|dba|user|cdb)_tab_(?:histograms|col_statistics)|(?:information_schema|mysql)\.column_(?:statistics|stats)|dm_db_stats_histogram)$/;
/** What they say of tables and accounts besides. */
const PLAIN =
  "schemaname tablename attname table_schema table_name column_name owner starelid staattnum inherited null_frac avg_width n_distinct correlation num_distinct num_nulls density num_buckets histogram_type usename usesysid usecreatedb usesuper rolname rolsuper rolcanlogin rolvaliduntil oid user host plugin name principal_id sid type_desc create_date modify_date is_disabled default_database_name subname srvname umuser".split(
    " ",
  );

/** What these tables hold; the same for all texts under one policy. */
const SYSTEM = new WeakMap<TierPolicy, { readonly credentials: KnownResource; readonly samples: KnownResource }>();

function systemResources(policy: TierPolicy) {
  const known = SYSTEM.get(policy);
  if (known !== undefined) return known;
  const columns = Object.fromEntries(PLAIN.map((name) => [name, { tier: unclassifiedTier(policy), tags: [] }]));
  const password = policyOf(policy, "PASSWORD");
  const made = {
    credentials: { tier: password.tier, tags: password.tags, columns },
    samples: { tier: highestTier(policy), tags: [], columns },
  };
  SYSTEM.set(policy, made);
  return made;
}

/** A catalogue that knows, besides, the tables of the databases themselves that keep credentials, and values of any table. */
export function withSystemResources(catalogue: Catalogue, policy: TierPolicy): Catalogue {
  const { credentials, samples } = systemResources(policy);
  return (table) => {
    const known = catalogue(table);
    const name = foldedName(table).replace(/["'`[\]\s]+/g, "");
    const system = CREDENTIALS.test(name) ? credentials : SAMPLES.test(name) ? samples : undefined;
    return system === undefined ? known : mergedResource(policy, known === undefined ? [system] : [known, system]);
  };
}
