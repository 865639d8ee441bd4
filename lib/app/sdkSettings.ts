/**
 * The settings of every AWS client: soon given up and tried again, so that a call ends well before its function does. Without
 * `throwOnRequestTimeout` the SDK only writes a warning when a call hangs.
 */
export const clientSettings = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;
