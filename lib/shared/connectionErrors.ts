const neverConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The codes of errors for connections that could not be opened. The receiver got nothing. */
export const neverConnectedCodes: ReadonlySet<unknown> = new Set(neverConnected);

/** The codes of errors for connections that could not be opened or were interrupted. A retry can succeed. */
export const connectionErrorCodes: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  ...neverConnected,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
