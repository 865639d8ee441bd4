const neverConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The receiver got nothing of a call with such an error. */
export const neverConnectedCodes: ReadonlySet<unknown> = new Set(neverConnected);

/** A retry of a call with such an error can succeed. */
export const connectionErrorCodes: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  ...neverConnected,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
