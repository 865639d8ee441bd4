/**
 * A hanging call must end before the function times out. Without `throwOnRequestTimeout`, the SDK only logs a warning.
 */
export const clientSettings = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;
