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
  /** `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * Like `newId`, but a repeated call with the same Idempotency-Key gets the same id, so it creates no second copy.
   * Each id of a call needs a different `number`.
   */
  readonly repeatableId: (prefix: string, number: number) => string;
  readonly hasIdempotencyKey: boolean;
  /** As the gateway reports it, of IPv6 the /64 network. Only for limits. */
  readonly sourceIp: string;
  readonly log: Log;
}

/** Published clients depend on these messages. `details.issues` still names the invalid fields. */
export interface FixedMessages {
  /** By field of `data`. */
  readonly required?: Readonly<Record<string, string>>;
  /** For a wrong format, by field of `data`. */
  readonly format?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly denied?: string;
}

/**
 * - `required`: an object with `data`
 * - `optional`: an object with `data`, or no body
 * - `bare or wrapped`: an object with `data`, or its fields directly, if `organizationId` is at the top level
 */
export type BodyForm = 'required' | 'optional' | 'bare or wrapped';

export interface Example {
  data: unknown;
  /** Without `status` and `message`. */
  result: unknown;
}

/** Of a warm request with the example: AWS calls, sequential round trips, and capacity units of the table. */
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
   * Below the summary in the reference: for whom, what the call refuses, and what to read next. Markdown, without
   * limits of fields.
   */
  readonly description?: string;
  /** With `user`, the endpoint accepts only user tokens. */
  readonly auth: A;
  /** With `auth: 'apiKey'`, makes the endpoint accept user tokens too. Required with `auth: 'user'`. */
  readonly user?: OpenToUsers;
  /** An endpoint that writes and needs credentials accepts an `Idempotency-Key`. */
  readonly kind: 'read' | 'write';
  /** For calls that cost far more than others. By default, the class is `kind`. */
  readonly limitClass?: 'expensive';
  /**
   * Limits the calls of each source address, for endpoints without credentials in the headers: one address could use up
   * a low limit of the gateway for all.
   */
  readonly limitsSources?: boolean;
  /** For writes with events or with more than one item per list element. */
  readonly work?: (input: z.output<I>) => Work;
  readonly input: I;
  readonly body?: BodyForm;
  /** Such as `{ data, nextPageToken }`. Undeclared fields are removed from answers. */
  readonly output: O;
  /** If null, the result has neither `status` nor `message`. */
  readonly message: string | ((output: z.output<O>, input: z.output<I>) => string) | null;
  readonly fixedMessages?: FixedMessages;
  /** Thrown by `run`, besides `commonErrors`. */
  readonly errors: readonly ErrorStatus[];
  readonly uses: U;
  /**
   * Each call checks credentials and access of the user against the table with strong consistency, not against memory.
   * For endpoints that create or revoke credentials, or start long access.
   */
  readonly freshCredentials?: boolean;
  /** Bytes. The default is 5 MB. Lambda allows 6 MB. */
  readonly answerBytes?: number;
  /** The parameter that makes an answer smaller, for the error of one that is too large. */
  readonly narrowBy?: FieldOf<I> | ((input: z.output<I>) => FieldOf<I>);
  /** The text of the alarm: what is broken, and for whom. */
  readonly impact: string;
  readonly example: Example;
  /** Exactly what tests expect, and what `npm run cost` computes dollars from. Older endpoints are in its list. */
  readonly cost?: RequestCost;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  /** The setting without which the endpoint is not deployed. */
  readonly requires?: 'live';
}

/** Every endpoint can answer these without declaring them. */
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

/** The same operation in the other version of the API. It shares the function of the first endpoint. */
export interface TwinOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends EndpointOf<I, O, U, A> {
  readonly twinOf: string;
  /** The end of a sentence that begins with "The same as <path>, ". */
  readonly differs?: string;
}

export type Endpoint = Omit<
  Declaration<z.ZodType, z.ZodType, Record<string, Capability<unknown>>, AuthLevel>,
  'narrowBy' | 'message' | 'work'
> & {
  readonly narrowBy?: string | ((input: never) => string);
  // `never`, because the list has endpoints of every input and output type.
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

/** Such as `v2.auth.permissions.get`, for logs, metrics and OpenAPI. */
export function endpointId(path: string): string {
  return path.slice(1).split('/').join('.');
}

/** Of paths with one part, such as `/docs`. */
const TOP_FAMILY = 'reference';

/**
 * `v2/auth` for `/v2/auth/permissions/get`, `reference` for `/docs`. Each family has its own stack, alarm and dashboard
 * row.
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
