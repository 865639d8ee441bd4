import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { ErrorStatus } from '../shared/errors.ts';
import type { AuthLevel, CallerOf } from './callers.ts';
import type { Capability, Opened, Uses } from './capability.ts';
import type { Work } from './rules/limits.ts';
import type { OpenToUsers } from './userRule.ts';

export type * from './callers.ts';

export interface EndpointCall<Input, U extends Uses, A extends AuthLevel> {
  readonly input: Input;
  readonly caller: CallerOf[A];
  readonly deps: Opened<U>;
  readonly now: number;
  /** An id is `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * Returns the same id in a repeated call with the same Idempotency-Key, so the call creates no second copy. Each id
   * of a call needs a different `number`.
   */
  readonly repeatableId: (prefix: string, number: number) => string;
  readonly hasIdempotencyKey: boolean;
  /** The address that the gateway reports, of IPv6 its /64 network. Only limits use the address. */
  readonly sourceIp: string;
  readonly log: Log;
}

/** Published clients depend on these error messages. */
export interface FixedMessages {
  readonly required?: Readonly<Record<string, string>>;
  readonly format?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly denied?: string;
}

/**
 * A body of the form `bare or wrapped` is an object with `data`, or has the fields of `data` directly. A body with
 * `organizationId` at the top level has the fields directly.
 */
export type BodyForm = 'required' | 'optional' | 'bare or wrapped';

export interface Example {
  data: unknown;
  result: unknown;
}

export interface RequestCost {
  readonly calls: number;
  readonly roundTrips: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

type FieldOf<I extends z.ZodType> = keyof z.output<I> & string;

export interface Declaration<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> {
  readonly path: `/v1/${string}` | `/v2/${string}`;
  readonly summary: string;
  /**
   * Markdown for the reference: for whom the endpoint is, what it refuses, and what to read next. No limits of fields.
   */
  readonly description?: string;
  readonly auth: A;
  /** With `auth: 'apiKey'`, the endpoint accepts user tokens too. */
  readonly user?: OpenToUsers;
  readonly kind: 'read' | 'write';
  /** The default is `kind`. Set the class if calls cost far more than others. */
  readonly limitClass?: 'expensive';
  readonly limitsSources?: boolean;
  /**
   * By default, the number of list elements in the request, without events. Declare it if a call can write more items
   * than that, or many events.
   */
  readonly work?: (input: z.output<I>) => Work;
  readonly input: I;
  readonly body?: BodyForm;
  /**
   * The schema of the result without `status` and `message`. Deployed functions remove undeclared fields from answers.
   */
  readonly output: O;
  readonly message: string | ((output: z.output<O>, input: z.output<I>) => string) | null;
  readonly fixedMessages?: FixedMessages;
  readonly errors: readonly ErrorStatus[];
  readonly uses: U;
  /**
   * Each call reads its credentials and the user's access from the table, not from memory. Endpoints that create or
   * revoke credentials need this.
   */
  readonly freshCredentials?: boolean;
  /** The default is 5 MB. Lambda allows 6 MB. */
  readonly answerBytes?: number;
  /** The error for an answer that is too large names this parameter. */
  readonly narrowBy?: FieldOf<I> | ((input: z.output<I>) => FieldOf<I>);
  readonly impact: string;
  readonly example: Example;
  /** The tests of the endpoint expect exactly this cost. Older endpoints have theirs in `infra/cost/requests.ts`. */
  readonly cost?: RequestCost;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  readonly requires?: 'live';
}

export const commonErrors = [
  'INVALID_ARGUMENT',
  'INTERNAL',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
] as const satisfies readonly ErrorStatus[];

export type Run<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> = (
  call: EndpointCall<z.output<I>, U, A>,
) => Promise<z.output<O>>;

export interface EndpointOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends Declaration<I, O, U, A> {
  readonly run: Run<I, O, U, A>;
}

export interface TwinOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends EndpointOf<I, O, U, A> {
  readonly twinOf: string;
  /** The text ends a sentence that begins with "The same as <path>, ". */
  readonly differs?: string;
}

export type Endpoint = Omit<
  Declaration<z.ZodType, z.ZodType, Record<string, Capability<unknown>>, AuthLevel>,
  'narrowBy' | 'message' | 'work'
> & {
  readonly narrowBy?: string | ((input: never) => string);
  readonly message: string | ((output: never, input: never) => string) | null;
  readonly work?: (input: never) => Work;
  readonly run: (call: never) => Promise<unknown>;
  readonly twinOf?: string;
  readonly differs?: string;
};

export function defineEndpoint<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  declaration: Declaration<I, O, U, A>,
  run: Run<I, O, U, A>,
): EndpointOf<I, O, U, A> {
  return { ...declaration, run };
}

export function endpointId(path: string): string {
  return path.slice(1).split('/').join('.');
}

const TOP_FAMILY = 'reference';

/**
 * Returns a family such as `v2/auth`, or `reference` for a path of one segment, such as `/docs`. Each family has its
 * own stack, alarm and dashboard row.
 */
export function familyOf(path: string): string {
  const [, version, name] = path.split('/');
  return name === undefined ? TOP_FAMILY : `${version}/${name}`;
}

export function pathInFamily(path: string): string {
  const family = familyOf(path);
  return path.slice(family === TOP_FAMILY ? 1 : family.length + 2);
}

export function otherVersion(path: string): `/v1/${string}` | `/v2/${string}` {
  const unversioned = path.slice('/v1/'.length);
  return path.startsWith('/v1/') ? `/v2/${unversioned}` : `/v1/${unversioned}`;
}

export function sourceFile(path: string): string {
  return `functions${path}.ts`;
}
