/** The version of this package: what it compiles no other version runs. */
export const VERSION = "0.0.0";
