import type { ErrorStatus } from '../shared/errors.ts';

interface ErrorExample {
  readonly message: string;
  readonly details?: object;
}

export const errorExamples: Readonly<Record<ErrorStatus, ErrorExample>> = {
  INVALID_ARGUMENT: {
    message: 'organizationId is required',
    details: { issues: [{ path: ['organizationId'], code: 'invalid_type', message: 'organizationId is required' }] },
  },
  FAILED_PRECONDITION: { message: 'The organization is disabled' },
  PERMISSION_DENIED: { message: 'Invalid API key.' },
  NOT_FOUND: { message: 'Organization does not exist' },
  ALREADY_EXISTS: { message: 'CRDT data already exists for this editor ID.' },
  ABORTED: { message: 'A request with this Idempotency-Key is still running; send it again in a moment' },
  RESOURCE_EXHAUSTED: { message: 'The API key sends too many reads. Send the request again after 1 s.' },
  INTERNAL: { message: 'Internal error. Quote the request id 8f14e45f-ceea-467f-9575-6e2a1f1b9c3d.' },
  UNAVAILABLE: { message: 'The service is not available for a moment. Send the request again.' },
  DEADLINE_EXCEEDED: { message: 'The request took too long. Its effect may or may not have happened.' },
};
