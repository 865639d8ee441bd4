import type { Capability } from '../app/capability.ts';
import type { AuthLevel } from '../app/endpoint.ts';
import { rateBuckets } from '../workspaces/rateBuckets.ts';
import { credentials } from './credentials.ts';
import { idempotency } from './idempotency.ts';

const answering: Capability<undefined> = { grants: [], env: ['SERVICE_NAME'], open: () => undefined };

interface DeclaredFunction {
  readonly auth: AuthLevel;
  readonly kind: 'read' | 'write' | 'page' | 'asset';
  readonly uses: Readonly<Record<string, Capability<unknown>>>;
}

/** Whether calls of this endpoint can carry an `Idempotency-Key`: those that write and have credentials. */
export function takesIdempotencyKey(endpoint: DeclaredFunction): boolean {
  return endpoint.kind === 'write' && endpoint.auth !== 'none';
}

/** Whether calls of this endpoint count towards the limits of an API key. */
export function isRateLimited({ auth }: Pick<DeclaredFunction, 'auth'>): boolean {
  return auth === 'apiKey';
}

/** Everything that the function of an endpoint or a page touches: what it declares and what the shared stack needs for it. */
export function capabilitiesOf(endpoint: DeclaredFunction): Capability<unknown>[] {
  return [
    answering,
    ...(endpoint.auth === 'none' ? [] : [credentials]),
    ...(isRateLimited(endpoint) ? [rateBuckets] : []),
    ...(takesIdempotencyKey(endpoint) ? [idempotency] : []),
    ...Object.values(endpoint.uses),
  ];
}
