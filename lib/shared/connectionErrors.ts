const neverConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The receiver got nothing. */
export const neverConnectedCodes: ReadonlySet<unknown> = new Set(neverConnected);

/** Also of interrupted connections. A retry can succeed. */
export const connectionErrorCodes: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  ...neverConnected,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
