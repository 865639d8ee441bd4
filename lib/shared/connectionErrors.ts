const neverConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The receiver of such a call got nothing. */
export const neverConnectedCodes: ReadonlySet<unknown> = new Set(neverConnected);

/** A retry of such a call can succeed. */
export const connectionErrorCodes: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  ...neverConnected,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
