import { connectionErrorCodes } from '../shared/connectionErrors.ts';
import { FaultShare } from './faultShare.ts';

/**
 * Services that several functions share. If one is out, all functions that call it fail, so it has an alarm of its own.
 */
export const dependencies = ['table', 'queues', 'model', 'mail'] as const;
export type Dependency = (typeof dependencies)[number];

/** A call that its caller aborts after this time counts as a failure of the dependency. */
const HANGING_MILLISECONDS = 5_000;

const outageNames: ReadonlySet<unknown> = new Set([
  'ModelNotReadyException',
  'ModelTimeoutException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestTimeout',
  'ResourceNotFoundException',
  'ServiceUnavailable',
  'ThrottlingError',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
]);

/** Failures since the end of the previous invocation. An instance has one invocation at a time. */
const failed = new Set<Dependency>();

export function noteOutage(dependency: Dependency): void {
  failed.add(dependency);
}

/** An error that refuses the input shows no outage. */
export function noteFailure(dependency: Dependency, error: unknown): void {
  if (isOutage(error)) failed.add(dependency);
}

/** Replaces `send` of a client, so that failures of its calls are recorded. */
export function watchClient<C extends { send: (...args: never[]) => unknown }>(dependency: Dependency, client: C): C {
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const watched = async (...args: unknown[]) => {
    const since = performance.now();
    try {
      return await send(...args);
    } catch (error) {
      const isHanging = partsOf(error).name === 'AbortError' && performance.now() - since >= HANGING_MILLISECONDS;
      if (isHanging) failed.add(dependency);
      else noteFailure(dependency, error);
      throw error;
    }
  };
  return Object.assign(client, { send: watched });
}

function isOutage(error: unknown): boolean {
  const { name, code, $metadata } = partsOf(error);
  return outageNames.has(name) || connectionErrorCodes.has(code) || ($metadata?.httpStatusCode ?? 0) >= 500;
}

interface ErrorParts {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function partsOf(error: unknown): ErrorParts {
  return typeof error === 'object' && error !== null ? error : {};
}

export class DependencyShares {
  readonly #shares = new Map(dependencies.map((dependency) => [dependency, new FaultShare()]));

  /** Returns dependencies that failed in this invocation and in at least 1 % of the recent ones. `now` is epoch ms. */
  end(now: number): Dependency[] {
    const frequent = [...this.#shares].filter(
      ([dependency, share]) =>
        share.add(now, { calls: 1, faults: failed.has(dependency) ? 1 : 0 }) && failed.has(dependency),
    );
    failed.clear();
    return frequent.map(([dependency]) => dependency);
  }
}
