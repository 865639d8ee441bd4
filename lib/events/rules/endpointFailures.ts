/** An endpoint is disabled after this time without a success, in milliseconds. */
export const DISABLED_AFTER = 5 * 24 * 60 * 60_000;
/** The numbers of days without a success after which the owner gets a warning. */
export const warningDays = [1, 3] as const;
export type WarningDay = (typeof warningDays)[number];
