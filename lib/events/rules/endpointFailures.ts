/** Milliseconds without a success. */
export const DISABLED_AFTER = 5 * 24 * 60 * 60_000;
/** Days without a success. */
export const warningDays = [1, 3] as const;
export type WarningDay = (typeof warningDays)[number];
