import type * as logMessages from '../observability/logMessages.ts';
import type * as z from 'zod';
import type { Capability, Opened, Uses } from './capability.ts';
import type { LimitClass } from '../workspaces/rules/rateLimit.ts';
import type { ErrorStatus } from '../shared/errors.ts';
import type { Feature } from '../shared/features.ts';

/** A caller with an API key. The API key is the tenant: all data of a customer are stored under it. */
export interface ApiKeyCaller {
  readonly level: 'apiKey';
  readonly tenant: string;
  readonly workspaceId: string;
  /** The SHA-256 of the auth token in the headers. */
  readonly tokenHash: Uint8Array;
  /** Features that the operator does not offer to this API key. */
  readonly withheld: readonly Feature[];
  /** Calls per second by class, where the API key has its own limits. */
  readonly limits: Readonly<Partial<Record<LimitClass, number>>>;
  /** The key that seals the page tokens of this tenant; 32 bytes. */
  readonly pageKey: Uint8Array;
}

export interface WorkspaceCaller {
  readonly level: 'workspace';
  readonly workspaceId: string;
  readonly ownerEmail: string;
  /** The auth token in the headers. */
  readonly authToken: string;
  readonly pageKey: Uint8Array;
}

export interface AnonymousCaller {
  readonly level: 'none';
}

export interface CallerOf {
  apiKey: ApiKeyCaller;
  workspace: WorkspaceCaller;
  none: AnonymousCaller;
}
export type AuthLevel = keyof CallerOf;
export type Caller = CallerOf[AuthLevel];

/** A message of the catalogue. */
type LogMessage = (typeof logMessages)[keyof typeof logMessages];

export interface Log {
  info(message: LogMessage, keys?: Record<string, unknown>): void;
  warn(message: LogMessage, keys?: Record<string, unknown>): void;
  error(message: LogMessage, keys?: Record<string, unknown>): void;
}

/** The argument of `run`. */
export interface EndpointCall<Input, U extends Uses, A extends AuthLevel> {
  readonly input: Input;
  readonly caller: CallerOf[A];
  readonly deps: Opened<U>;
  /** The time of the request, epoch milliseconds. */
  readonly now: number;
  /** Returns a new id: `<prefix>_` and 27 base-62 characters that sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * Like `newId`, but a repeated call with the same Idempotency-Key gets the same id. It prevents a second copy after
   * an interrupted call. `number` tells the ids of one call apart.
   */
  readonly repeatableId: (prefix: string, number: number) => string;
  /** The IP address of the caller, from the gateway. */
  readonly sourceIp: string;
  readonly log: Log;
}

/**
 * Error messages that published clients depend on. They replace the general messages. `details.issues` still names the
 * fields.
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

export interface Example {
  /** The `data` of a request. */
  data: unknown;
  /** The result without `status` and `message`. */
  result: unknown;
}

/**
 * An endpoint. Its route, function, IAM policy, environment, bundle, alarm and OpenAPI operation derive from the
 * declaration.
 */
export interface Declaration<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> {
  readonly path: `/v1/${string}` | `/v2/${string}`;
  readonly summary: string;
  readonly auth: A;
  /** A `write` with credentials takes an `Idempotency-Key`. */
  readonly kind: 'read' | 'write';
  /**
   * Set for calls that cost far more than others. Without it, calls count by their kind towards the limits of an API
   * key.
   */
  readonly limitClass?: 'expensive';
  /** The schema of `data`. */
  readonly input: I;
  /** `optional` allows a request without a body. */
  readonly body?: 'required' | 'optional';
  /**
   * The schema of the result without `status` and `message`, such as `{ data, nextPageToken }`. Other fields are
   * dropped.
   */
  readonly output: O;
  /** `null` if the result has neither `status` nor `message`. */
  readonly message: string | ((output: z.output<O>, input: z.output<I>) => string) | null;
  readonly fixedMessages?: FixedMessages;
  /** The statuses that `run` throws besides `commonErrors`. */
  readonly errors: readonly ErrorStatus[];
  readonly uses: U;
  /** Reads the credentials consistently instead of from memory, for endpoints that create or revoke them. */
  readonly freshCredentials?: boolean;
  /** The largest answer in bytes; 5 MB by default. A function can return 6 MB. */
  readonly answerBytes?: number;
  /** The parameter that makes the answer smaller. The error for a large answer names it. */
  readonly narrowBy?: keyof z.output<I> & string;
  /** The text of its alarm: what is broken when the endpoint fails, and for whom. */
  readonly impact: string;
  readonly example: Example;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
}

/** The statuses that every endpoint may answer without declaring them. */
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

/** The same operation in the other version of the API. It shares the function of its endpoint. */
export interface TwinOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends EndpointOf<I, O, U, A> {
  /** The path of the endpoint whose function it shares. */
  readonly twinOf: string;
  /** What differs, as a fragment after "The same as <path>, ". */
  readonly differs?: string;
}

/** An endpoint of any types, for readers of the registry. */
export type Endpoint = Omit<
  Declaration<z.ZodType, z.ZodType, Record<string, Capability<unknown>>, AuthLevel>,
  'narrowBy' | 'message'
> & {
  readonly narrowBy?: string;
  // `never` because the registry holds endpoints of every input and output type.
  readonly message: string | ((output: never, input: never) => string) | null;
  readonly run: (call: never) => Promise<unknown>;
  /** As in `TwinOf`; absent for an endpoint with its own function. */
  readonly twinOf?: string;
  readonly differs?: string;
};

/**
 * Declares an endpoint. Importing a declaration has no side effects: clients, environment and clock are used at the
 * first request.
 */
export function defineEndpoint<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  declaration: Declaration<I, O, U, A>,
  run: Run<I, O, U, A>,
): EndpointOf<I, O, U, A> {
  return { ...declaration, run };
}

/**
 * Returns the name of an operation in logs, metrics and OpenAPI: `v2.auth.permissions.get` for
 * `/v2/auth/permissions/get`.
 */
export function endpointId(path: string): string {
  return path.slice(1).split('/').join('.');
}

/** The family of the reference: of paths with one part. */
const TOP_FAMILY = 'reference';

/**
 * Returns the family of a path: `v2/auth` for `/v2/auth/permissions/get`, `reference` for `/docs`. Each family has its
 * own stack, alarm and dashboard row.
 */
export function familyOf(path: string): string {
  const [, version, name] = path.split('/');
  return name === undefined ? TOP_FAMILY : `${version}/${name}`;
}

/** Returns the path without its family: `permissions/get` for `/v2/auth/permissions/get`, `docs` for `/docs`. */
export function pathInFamily(path: string): string {
  const family = familyOf(path);
  return path.slice(family === TOP_FAMILY ? 1 : family.length + 2);
}

/** Returns the path in the other version of the API: `/v1/users/get` for `/v2/users/get`, and the reverse. */
export function otherVersion(path: string): `/v1/${string}` | `/v2/${string}` {
  const rest = path.slice('/v1/'.length);
  return path.startsWith('/v1/') ? `/v2/${rest}` : `/v1/${rest}`;
}

/** Returns the source file of an endpoint: `functions/v2/auth/permissions/get.ts`. */
export function sourceFile(path: string): string {
  return `functions${path}.ts`;
}
