/** The table in functions/README.md and the responses in the OpenAPI document are generated from this object. */
export const errorCatalogue = {
  INVALID_ARGUMENT: {
    http: 400,
    retryable: false,
    meaning: 'The request is malformed. The message names the field. `details.issues` lists every problem.',
  },
  FAILED_PRECONDITION: {
    http: 400,
    retryable: false,
    meaning: 'The request is well formed, but the state of the workspace does not allow it.',
  },
  PERMISSION_DENIED: {
    http: 403,
    retryable: false,
    meaning: 'The credentials are missing, wrong, expired or belong to someone else.',
  },
  NOT_FOUND: {
    http: 404,
    retryable: false,
    meaning:
      'A resource in the request does not exist for this caller. An unknown organization is mostly INVALID_ARGUMENT.',
  },
  ALREADY_EXISTS: {
    http: 409,
    retryable: false,
    meaning: 'The resource that the request would create exists already.',
  },
  ABORTED: { http: 409, retryable: true, meaning: 'A concurrent request caused a conflict. Send the request again.' },
  RESOURCE_EXHAUSTED: {
    http: 429,
    retryable: true,
    meaning: 'A limit on calls or on the number of resources is reached.',
  },
  INTERNAL: { http: 500, retryable: true, meaning: 'An internal error. Quote the request id.' },
  UNAVAILABLE: {
    http: 503,
    retryable: true,
    meaning: 'The service is not available for a moment. Send the request again.',
  },
  DEADLINE_EXCEEDED: {
    http: 504,
    retryable: true,
    meaning: 'The request took too long. Its effect may or may not have happened.',
  },
} as const satisfies Record<string, { http: number; retryable: boolean; meaning: string }>;

export type ErrorStatus = keyof typeof errorCatalogue;

export interface Issue {
  /**
   * The path from `data` to the field, such as `['folders', 3, 'folderId']`, or the name of a header or of `data`
   * itself.
   */
  path: (string | number)[];
  code: string;
  message: string;
}

/** Returns a name such as `folders[3].folderId`. */
export function fieldName(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'data';
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
  return parts.join('').replace(/^\./, '');
}

export class ApiError extends Error {
  readonly status: ErrorStatus;
  readonly details: object | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: ErrorStatus,
    message: string,
    options: { details?: object; cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The message is that of the first problem. `details.issues` lists all problems. */
export function invalid(...issues: [Issue, ...Issue[]]): ApiError {
  return new ApiError('INVALID_ARGUMENT', issues[0].message, { details: { issues } });
}
