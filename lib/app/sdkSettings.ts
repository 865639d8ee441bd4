/**
 * The settings of every AWS client. Time-outs are short, so that a call ends before its function does. Without
 * `throwOnRequestTimeout` the SDK only logs a warning when a call hangs.
 */
export const clientSettings = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;
