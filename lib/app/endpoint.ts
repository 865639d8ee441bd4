import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { ErrorStatus } from '../shared/errors.ts';
import type { AuthLevel, CallerOf } from './callers.ts';
import type { Capability, Opened, Uses } from './capability.ts';
import type { Work } from './rules/limits.ts';
import type { OpenToUsers } from './userRule.ts';

export type * from './callers.ts';

/** The argument of an endpoint's `run`. */
export interface EndpointCall<Input, U extends Uses, A extends AuthLevel> {
  readonly input: Input;
  readonly caller: CallerOf[A];
  readonly deps: Opened<U>;
  /** The time of the request in epoch ms. */
  readonly now: number;
  /** Returns a new id: `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * Returns an id like `newId`. A repeated call with the same Idempotency-Key gets the same id. If the first call was interrupted,
   * the repeated call therefore creates no second copy. Each id of a call needs a different `number`.
   */
  readonly repeatableId: (prefix: string, number: number) => string;
  /** True if the call has an Idempotency-Key. */
  readonly hasIdempotencyKey: boolean;
  /** The IP address of the caller as the gateway reports it, of IPv6 its /64 network. Only for limits. */
  readonly sourceIp: string;
  readonly log: Log;
}

/**
 * Error messages that published clients depend on. They replace the messages that validation makes. `details.issues` still names
 * the invalid fields.
 */
export interface FixedMessages {
  /** Messages for missing fields of `data`, by field. */
  readonly required?: Readonly<Record<string, string>>;
  /** Messages for fields of `data` with a wrong format, by field. */
  readonly format?: Readonly<Record<string, string>>;
  /** The message for a field of a wrong type. */
  readonly type?: string;
  /** The message for wrong credentials. */
  readonly denied?: string;
}

/**
 * The form of a request body.
 * - `required`: an object with `data`
 * - `optional`: an object with `data`, or no body
 * - `bare or wrapped`: an object with `data`, or the fields of `data` directly. A body that has `organizationId` at the top level
 *   has the fields directly.
 */
export type BodyForm = 'required' | 'optional' | 'bare or wrapped';

export interface Example {
  /** The `data` of the request. */
  data: unknown;
  /** The `result` of the answer, without `status` and `message`. */
  result: unknown;
}

/** What a warm request with the example uses: AWS calls, sequential round trips, and capacity units of the table. */
export interface RequestCost {
  readonly calls: number;
  readonly roundTrips: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** The name of a field in the input of an endpoint. */
type FieldOf<I extends z.ZodType> = keyof z.output<I> & string;

/** An endpoint. Its route, function, IAM policy, environment, bundle, alarm and OpenAPI operation derive from this declaration. */
export interface Declaration<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> {
  readonly path: `/v1/${string}` | `/v2/${string}`;
  readonly summary: string;
  /** What the reference says below the summary: for whom, what the call refuses, and what to read next. Markdown, without limits of fields. */
  readonly description?: string;
  /** The credentials that a caller needs. With `user`, the endpoint accepts only user tokens. */
  readonly auth: A;
  /**
   * The rule for calls with user tokens. With `auth: 'apiKey'`, the rule makes the endpoint accept user tokens too. Required with
   * `auth: 'user'`.
   */
  readonly user?: OpenToUsers;
  /** Whether calls read or write. An endpoint that writes and needs credentials accepts an `Idempotency-Key`. */
  readonly kind: 'read' | 'write';
  /**
   * The class whose rate limit applies to calls. Set it for an endpoint whose calls cost far more than others. By default, the
   * class is `kind`.
   */
  readonly limitClass?: 'expensive';
  /**
   * Limits the calls of each source address, which could use up a low limit of the gateway for all callers. Only for endpoints without
   * credentials in the headers.
   */
  readonly limitsSources?: boolean;
  /** For writes with events or with more than one item per list element. */
  readonly work?: (input: z.output<I>) => Work;
  /** The schema of `data`. */
  readonly input: I;
  /** The form of a request body. The default is `required`. */
  readonly body?: BodyForm;
  /**
   * The schema of the result without `status` and `message`, such as `{ data, nextPageToken }`. Fields that it does not declare
   * are removed from answers.
   */
  readonly output: O;
  /** The `message` of the result. If it is null, the result has neither `status` nor `message`. */
  readonly message: string | ((output: z.output<O>, input: z.output<I>) => string) | null;
  readonly fixedMessages?: FixedMessages;
  /** The error statuses that `run` throws, besides those in `commonErrors`. */
  readonly errors: readonly ErrorStatus[];
  readonly uses: U;
  /**
   * If true, each call checks its credentials, and the access of the user of a user token, against the table with strong
   * consistency, not against memory. Endpoints that create or revoke credentials need this, and endpoints that start long access.
   */
  readonly freshCredentials?: boolean;
  /** The largest answer in bytes. The default is 5 MB. Lambda allows 6 MB. */
  readonly answerBytes?: number;
  /**
   * The parameter with which a caller gets a smaller answer, or a function that returns it for an input. The error for an answer
   * that is too large names this parameter.
   */
  readonly narrowBy?: FieldOf<I> | ((input: z.output<I>) => FieldOf<I>);
  /** The text of the endpoint's alarm: what is broken when the endpoint fails, and for whom. */
  readonly impact: string;
  readonly example: Example;
  /** The tests of the endpoint expect exactly this, and `npm run cost` computes dollars from it. Older endpoints are in its list. */
  readonly cost?: RequestCost;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  /** The deployment setting without which the endpoint is not deployed. */
  readonly requires?: 'live';
}

/** The error statuses that every endpoint can answer without declaring them. */
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

/** A second endpoint for the same operation, in the other version of the API. It shares the function of the first endpoint. */
export interface TwinOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends EndpointOf<I, O, U, A> {
  /** The path of the endpoint whose function this endpoint shares. */
  readonly twinOf: string;
  /** What differs, as the end of a sentence that begins with "The same as <path>, ". */
  readonly differs?: string;
}

/** An endpoint with any type parameters, for code that reads the list of all declarations. */
export type Endpoint = Omit<
  Declaration<z.ZodType, z.ZodType, Record<string, Capability<unknown>>, AuthLevel>,
  'narrowBy' | 'message' | 'work'
> & {
  readonly narrowBy?: string | ((input: never) => string);
  // `never`, because the list has endpoints of every input and output type.
  readonly message: string | ((output: never, input: never) => string) | null;
  readonly work?: (input: never) => Work;
  readonly run: (call: never) => Promise<unknown>;
  /** The path of the endpoint whose function this endpoint shares. Undefined for an endpoint with its own function. */
  readonly twinOf?: string;
  readonly differs?: string;
};

/**
 * Declares an endpoint. Importing the declaration has no side effects. Only a request opens clients, reads the environment and uses
 * the clock.
 */
export function defineEndpoint<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  declaration: Declaration<I, O, U, A>,
  run: Run<I, O, U, A>,
): EndpointOf<I, O, U, A> {
  return { ...declaration, run };
}

/**
 * Returns the name of an operation in logs, metrics and OpenAPI, such as `v2.auth.permissions.get` for
 * `/v2/auth/permissions/get`.
 */
export function endpointId(path: string): string {
  return path.slice(1).split('/').join('.');
}

/** The family of paths with only one part, such as `/docs`. The pages of the API reference have such paths. */
const TOP_FAMILY = 'reference';

/**
 * Returns the family of a path, such as `v2/auth` for `/v2/auth/permissions/get` and `reference` for `/docs`. Each family has its
 * own stack, alarm and dashboard row.
 */
export function familyOf(path: string): string {
  const [, version, name] = path.split('/');
  return name === undefined ? TOP_FAMILY : `${version}/${name}`;
}

/** Returns the path without its family, such as `permissions/get` for `/v2/auth/permissions/get` and `docs` for `/docs`. */
export function pathInFamily(path: string): string {
  const family = familyOf(path);
  return path.slice(family === TOP_FAMILY ? 1 : family.length + 2);
}

/** Returns the path in the other version of the API, such as `/v1/users/get` for `/v2/users/get`. */
export function otherVersion(path: string): `/v1/${string}` | `/v2/${string}` {
  const unversioned = path.slice('/v1/'.length);
  return path.startsWith('/v1/') ? `/v2/${unversioned}` : `/v1/${unversioned}`;
}

/** Returns the source file of an endpoint, such as `functions/v2/auth/permissions/get.ts`. */
export function sourceFile(path: string): string {
  return `functions${path}.ts`;
}
