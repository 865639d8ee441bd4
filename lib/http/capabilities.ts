import type { Capability } from '../app/capability.ts';
import type { AuthLevel } from '../app/endpoint.ts';
import { serviceName } from '../app/serviceName.ts';
import type { OpenToUsers } from '../app/userRule.ts';
import { credentials } from './credentials.ts';
import { idempotency } from './idempotency.ts';
import { rateBuckets } from './rateBuckets.ts';

interface DeclaredFunction {
  readonly auth: AuthLevel;
  readonly user?: OpenToUsers;
  readonly kind: 'read' | 'write' | 'page' | 'asset';
  readonly uses: Readonly<Record<string, Capability<unknown>>>;
}

export function takesIdempotencyKey(endpoint: DeclaredFunction): boolean {
  return endpoint.kind === 'write' && endpoint.auth !== 'none';
}

export function isRateLimited({ auth }: Pick<DeclaredFunction, 'auth'>): boolean {
  return auth === 'apiKey' || auth === 'user';
}

export function capabilitiesOf(endpoint: DeclaredFunction): Capability<unknown>[] {
  return [
    serviceName,
    ...(['apiKey', 'workspace'].includes(endpoint.auth) ? [credentials] : []),
    ...(endpoint.user ? [endpoint.user.checker] : []),
    ...(isRateLimited(endpoint) ? [rateBuckets] : []),
    ...(takesIdempotencyKey(endpoint) ? [idempotency] : []),
    ...Object.values(endpoint.uses),
  ];
}
