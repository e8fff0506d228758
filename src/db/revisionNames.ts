/** Settings that count changes: of keys, and of what is configured at run time. */
export const KEYS_REVISION = "keys_revision";
export const CONFIG_REVISION = "config_revision";
